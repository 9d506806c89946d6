"""Errors of the CSI driver that name the volume, and how they end."""

from __future__ import annotations

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.judge.ceph_settings import filled_in
from fixtures.judge.csi_logs import counts, unresolved
from fixtures.observe.answers import Misread
from fixtures.observe.ceph_settings import FILES, Settings, parse_tracked, parse_user
from fixtures.observe.pod_logs import PodLog, parse_log

OURS = ("claim-1", "pvc-1111", "csi-vol-2222")
GOOD = "I0830 03:00:02.000000       1 utils.go:1] GRPC response: {} pvc-1111"
ABORTED = "E0830 03:00:01.000000       1 utils.go:1] GRPC error: code = Aborted pvc-1111 exists"
LAST = "E0830 03:00:03.000000       1 utils.go:1] failed to delete image csi-vol-2222"
OTHER = "E0830 03:00:03.000000       1 utils.go:1] failed to delete image csi-vol-22223"
UNTRUE = [
    "I0830 03:00:04.000000       1 a.go:1] image csi-vol-2222 could not be deleted",
    "I0830 03:00:04.000000       1 a.go:1] waiting until pvc-1111 is detached",
    "I0830 03:00:04.000000       1 a.go:1] pvc-1111 will be removed",
    "W0830 03:00:04.000000       1 a.go:1] retrying pvc-1111, which was deleted",
    "I0830 03:00:04.000000       1 a.go:1] delete of pvc-1111: unsuccessful",
    'I0830 03:00:04.000000       1 a.go:1] Req-ID: pvc-1111 GRPC request: {"state":"attached"}',
    "I0830 03:00:04.000000       1 a.go:1] Req-ID: pvc-1111 GRPC call: /x.Node/Mounted deleted",
]
TRUE = [
    "I0830 03:00:04.000000       1 a.go:1] successfully created PV pvc-1111 for PVC claim-1",
    'I0830 03:00:04.000000       1 a.go:1] delete "pvc-1111": persistentvolume deleted succeeded',
    "I0830 03:00:04.000000       1 a.go:1] successfully unmounted volume (0001-x pvc-1111)",
    'I0830 03:00:04.000000       1 a.go:1] Req-ID: pvc-1111 GRPC response: {"if":"not"}',
    "I0830 03:00:04.000000       1 a.go:1] provision claim-1 succeeded",
]
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


@pytest.mark.parametrize("line", UNTRUE)
def test_what_tells_of_no_success_ends_no_error(line: str) -> None:
    assert unresolved(log(GOOD, LAST, line), OURS)


@pytest.mark.parametrize("line", TRUE)
def test_what_tells_of_a_success_ends_an_error(line: str) -> None:
    assert unresolved(log(GOOD, LAST, line), OURS) == ()


def calls(*told: tuple[int, str, str]) -> list[PodLog]:
    """Level and end of each line of numbered calls."""
    head = "0830 03:00:04.000000       1 utils.go:1] ID:"
    lines = (f"{text[0]}{head} {at} Req-ID: csi-vol-2222 {text[1]}" for at, *text in told)
    return log(GOOD, *lines)


BUSY = "GRPC error: rpc error: code = Internal desc = busy"
DONE = 'GRPC response: {"usage":[]}'


@pytest.mark.parametrize(
    ("failed", "answered", "ends"),
    [
        ("Node/NodeUnpublishVolume", "Node/NodeUnpublishVolume", True),
        ("Node/NodeUnpublishVolume", "Node/NodeGetVolumeStats", False),
        ("Node/NodeUnpublishVolume", "Identity/Probe", False),
        ("Controller/DeleteVolume", "Controller/ControllerExpandVolume", False),
        ("Node/NodeGetVolumeStats", "Node/NodeUnpublishVolume", True),
        ("Controller/ControllerGetVolume", "Node/NodeGetVolumeStats", False),
    ],
)
def test_the_answer_to_another_call_ends_no_error(failed: str, answered: str, ends: bool) -> None:
    first, second = f"GRPC call: /csi.v1.{failed}", f"GRPC call: /csi.v1.{answered}"
    one_by_one = calls((27, "I", first), (27, "E", BUSY), (28, "I", second), (28, "I", DONE))
    at_once = calls((27, "I", first), (28, "I", second), (27, "E", BUSY), (28, "I", DONE))
    for logs in (one_by_one, at_once):
        assert (unresolved(logs, OURS) == ()) is ends


def test_a_look_ends_no_error_of_a_call_that_is_not_told() -> None:
    look = (28, "I", "GRPC call: /csi.v1.Node/NodeGetVolumeStats")
    assert unresolved(calls((27, "E", BUSY), look, (28, "I", DONE)), OURS)
    assert unresolved(calls((27, "E", BUSY), (28, "I", DONE)), OURS) == ()


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


@pytest.mark.parametrize("value", ['""', "''", "~", "null", '"" # fsid', ""])
def test_an_empty_cluster_id_is_none(value: str) -> None:
    """Two files that name nothing do not agree, and no statement speaks of it."""
    files = tuple((each, parse_tracked(each, f"clusterID: {value}\n")) for each in FILES)
    found = filled_in(Settings(files))
    assert len(found) == len(FILES)
    assert all("clusterID" in each for each in found)
    mixed = parse_tracked(FILES[0], f"- clusterID: 6c4f1d3e\n- clusterID: {value or '~'}\n")
    (found_once,) = filled_in(Settings(((FILES[0], mixed),)))
    assert "an empty clusterID" in found_once


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
