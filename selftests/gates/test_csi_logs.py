"""Errors of the CSI driver that name the volume, and how they end."""

from __future__ import annotations

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.judge.csi_logs import counts, unresolved
from fixtures.observe.answers import Misread
from fixtures.observe.ceph_settings import parse_tracked, parse_user
from fixtures.observe.pod_logs import PodLog, parse_log

OURS = ("claim-1", "pvc-1111", "csi-vol-2222")
GOOD = "I0830 03:00:02.000000       1 utils.go:1] GRPC response: {} pvc-1111"
ABORTED = "E0830 03:00:01.000000       1 utils.go:1] GRPC error: code = Aborted pvc-1111 exists"
LAST = "E0830 03:00:03.000000       1 utils.go:1] failed to delete image csi-vol-2222"
OTHER = "E0830 03:00:03.000000       1 utils.go:1] failed to delete image csi-vol-22223"
QUOTED = 'I0830 03:00:04.000000       1 a.go:1] readyz failed: "an error" pvc-1111'


def log(*lines: str) -> list[PodLog]:
    text = "".join(f"2026-08-30T03:00:0{at}.5Z {line}\n" for at, line in enumerate(lines))
    return [PodLog("provisioner-0", parse_log("csi-rbdplugin", text))]


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        ((ABORTED, GOOD), "PASS"),
        ((GOOD, OTHER), "PASS"),
        ((GOOD, QUOTED), "PASS"),
        ((GOOD, LAST), "FAIL"),
        ((GOOD, ABORTED), "FAIL"),
        ((OTHER,), "UNKNOWN"),
        ((), "UNKNOWN"),
        ((ABORTED,), "UNKNOWN"),
    ],
)
def test_verdict(lines: tuple[str, ...], verdict: str) -> None:
    try:
        found = "FAIL" if unresolved(log(*lines), OURS) else "PASS"
    except Undecided:
        found = "UNKNOWN"
    assert found == verdict


def test_a_success_in_another_pod_does_not_count() -> None:
    (first,), (second,) = log(GOOD, LAST), log(GOOD)
    assert unresolved([first, second], OURS)


def test_others_are_counted() -> None:
    assert counts(log(GOOD, OTHER, LAST), OURS) == {
        "lines": 3,
        "errors of this volume": 1,
        "errors of others": {"provisioner-0": 1},
    }


def test_a_line_without_a_time_is_misread() -> None:
    with pytest.raises(Misread):
        parse_log("csi-rbdplugin", "no time\n")


@pytest.mark.parametrize(
    "line", ["clusterID: <cluster-id>", "  - CHANGEME", "clusterID: ${FSID}", "id: your-fsid"]
)
def test_placeholders(line: str) -> None:
    assert parse_tracked("values.yaml", f"{line}\n").placeholders
    assert not parse_tracked("values.yaml", f"a: 1  # {line}\n").placeholders


def test_the_ceph_user_is_told_as_verdicts() -> None:
    secret = '{{"data": {{"userID": "{}", "userKey": "{}"}}}}'
    seen = parse_user(secret.format("YWRtaW4=", "a2V5"))
    assert seen is not None
    assert (seen.admin, seen.missing) == (True, ())
    assert parse_user(secret.format("Y2xpZW50LmFkbWlu", "a2V5")) == seen
    csi = parse_user(secret.format("Y3Np", ""))
    assert csi is not None
    assert (csi.admin, csi.missing) == (False, ("userKey",))
    assert parse_user("[]") is None
    assert parse_user(secret.format("not base64", "")) is None
