"""Outputs of `cilium connectivity test`, shortened: cilium-cli v0.18 and older, as published.

From reports of issues (cilium/cilium#36771, #34995, #37819) and of public test runs.
"""

from __future__ import annotations

_CLIENT = "cilium-test-1/client-645b68dcf7-w7kcn (172.22.48.10)"
_OTHER = "cilium-test-1/echo-other-node-689b8c9477-rvkw4 (172.22.48.12:8080)"
_SAME = "cilium-test-1/echo-same-node-798cc5d967-jh4jv (172.22.48.14:8080)"
_WORLD = "one.one.one.one.-http (one.one.one.one.:80)"

PASSED = f"""\
\u2139️  Monitor aggregation detected, will skip some flow validation steps
✨ [default] Creating namespace cilium-test-1 for connectivity check...
⌛ [default] Waiting for deployment cilium-test-1/client to become ready...
\u2139️  Skipping IPCache check
🔭 Enabling Hubble telescope...
⚠️  Unable to contact Hubble Relay, disabling Hubble telescope and flow validation: rpc error
\u2139️  Expose Relay locally with:
   cilium hubble enable
   cilium hubble port-forward&
\u2139️  Cilium version: 1.18.2
🏃[cilium-test-1] Running 115 tests ...
[=] [cilium-test-1] Test [no-policies] [1/115]
  [-] Scenario [no-policies/pod-to-pod]
  [.] Action [no-policies/pod-to-pod:curl-ipv4-0: {_CLIENT} -> {_OTHER}]
  [.] Action [no-policies/pod-to-pod:curl-ipv4-1: {_CLIENT} -> {_SAME}]
  [-] Scenario [no-policies/pod-to-service]
  [.] Action [no-policies/pod-to-service:curl-0: {_CLIENT} -> cilium-test-1/echo-same-node (x:8080)]
  [-] Scenario [no-policies/pod-to-world]
  [.] Action [no-policies/pod-to-world:http-to-one.one.one.one.-0: {_CLIENT} -> {_WORLD}]
[=] [cilium-test-1] Skipping test [no-policies-from-outside] [2/115] (skipped by condition)
[=] [cilium-test-1] Test [client-egress-knp] [23/115]
  \u2139️  📜 Applying NetworkPolicy 'client-egress-to-echo' to namespace 'cilium-test-1'
  [-] Scenario [client-egress-knp/pod-to-pod]
  [.] Action [client-egress-knp/pod-to-pod:curl-ipv4-0: {_CLIENT} -> {_OTHER}]

✅ [cilium-test-1] All 75 tests (600 actions) successful, 40 tests skipped, 1 scenarios skipped.
"""

FAILED = f"""\
🏃[cilium-test-1] Running 123 tests ...
[=] [cilium-test-1] Test [client-egress-l7] [66/123]
....
  [.] Action [client-egress-l7/pod-to-world:http-to-one.one.one.one.-0: {_CLIENT} -> {_WORLD}]
  ❌ command "curl --silent http://one.one.one.one.:80" failed: exit code 28
  \u2139️  curl stdout:
  :0 -> :0 = 000
[=] [cilium-test-1] Test [check-log-errors] [123/123]
.......

📋 Test Report [cilium-test-1]
❌ 2/77 tests failed (3/781 actions), 46 tests skipped, 2 scenarios skipped:
Test [client-egress-l7]:
  🟥 client-egress-l7/pod-to-world:http-to-one.one.one.one.-0: {_CLIENT} -> {_WORLD}: exit code 28
  🟥 client-egress-l7/pod-to-world:http-to-one.one.one.one.-1: {_CLIENT} -> {_WORLD}: exit code 28
Test [to-fqdns-with-proxy]:
  🟥 to-fqdns-with-proxy/pod-to-world:http-ipv4-0: {_CLIENT} -> {_WORLD}: exit code 22
[cilium-test-1] 2 tests failed
"""

OLD_PASSED = """\
🏃 Running tests...
[=] Test [no-policies] [1/46]
........
[=] Skipping Test [bgp-control-plane-v1]
✅ All 45 tests (191 actions) successful, 0 warnings, 3 tests skipped, 1 scenarios skipped.
"""

OLD_FAILED = f"""\
🏃 Running tests...
[=] Test [no-policies]
.
  [-] Scenario [no-policies/pod-to-world]
  [.] Action [no-policies/pod-to-world/http-to-one.one.one.one-0: cilium-test/client-a (10.64.1.2) \
-> {_WORLD}]
  ❌ command "curl http://one.one.one.one:80" failed: command terminated with exit code 28
📋 Test Report
❌ 1/11 tests failed (4/128 actions), 0 tests skipped, 0 scenarios skipped:
Test [no-policies]:
  ❌ no-policies/pod-to-world/http-to-one.one.one.one-0: cilium-test/client-a (10.64.1.121)
"""

SPURIOUS = """\
[=] [cilium-test-1] Test [echo-ingress] [1/1]
  ❌ command failed, retrying (1/3)
  🟥 curl: (28) Connection timed out
Test [echo-ingress]:
✅ [cilium-test-1] All 1 tests (2 actions) successful, 0 tests skipped, 0 scenarios skipped.
"""

SINGLE_NODE = "\u2139️  Single-node environment detected, enabling single-node connectivity test"
