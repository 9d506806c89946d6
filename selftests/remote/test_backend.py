"""testinfra's `host` on the bastion connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fixtures.core.verdicts import Undecided
from fixtures.remote.backend import testinfra_host as on_host
from fixtures.remote.errors import LinkError

if TYPE_CHECKING:
    from selftests.remote.conftest import Site


@pytest.fixture
def cp01(site: Site) -> Any:
    return on_host(site.link(), "rke-cp01")


def test_run_keeps_streams_apart_and_255_is_an_exit_code(cp01: Any) -> None:
    result = cp01.run("exit %s", "255")
    assert (result.rc, result.stdout_bytes, result.stderr_bytes) == (255, b"out\n", b"err\n")
    assert result.stdout == "out\n"


def test_modules_work(site: Site, cp01: Any) -> None:
    site.cp01.answers = {
        "test -e /etc/hosts": (0, b"", b""),
        "test -e /etc/none": (1, b"", b""),
        "stat -Lc %a /etc/hosts": (0, b"644\n", b""),
        "uname -s": (0, b"Linux\n", b""),
        "uname -m": (0, b"x86_64\n", b""),
        "test -d /run/systemd/system/": (0, b"", b""),
        "systemctl is-active keepalived": (0, b"active\n", b""),
    }
    assert cp01.file("/etc/hosts").exists
    assert not cp01.file("/etc/none").exists
    assert cp01.file("/etc/hosts").mode == 0o644
    asked = len(site.cp01.commands)
    cp01.run("exit 0")
    assert len(site.cp01.commands) == asked + 1


def test_sudo_never_asks_for_a_password(site: Site, cp01: Any) -> None:
    with cp01.sudo():
        cp01.run("id")
        with cp01.sudo("etcd"):
            cp01.run("id")
    cp01.run("id")
    assert site.cp01.commands == [
        "sudo -n /bin/sh -c id",
        "sudo -n /bin/sh -c 'sudo -n -u etcd /bin/sh -c id'",
        "id",
    ]


def test_a_lost_link_is_no_exit_code(cp01: Any) -> None:
    with pytest.raises(LinkError, match="the connection was lost after"):
        cp01.run("cut")


def test_bytes_that_are_not_utf_8_are_said_when_read_as_text(cp01: Any) -> None:
    result = cp01.run("out 3")
    assert result.stdout_bytes == b"\xff\xff\xff"
    with pytest.raises(Undecided, match="not UTF-8"):
        _ = result.stdout


def test_output_beyond_the_cap_is_not_judged(site: Site) -> None:
    host = on_host(site.link(read_cap_bytes=10), "rke-cp01")
    with pytest.raises(Undecided, match="printed 90 bytes more than the read cap"):
        host.run("out 100")


def test_answers_are_evidence(site: Site) -> None:
    asker = site.asker()
    host = on_host(asker.bastion, "rke-cp01", note=asker.note)
    host.run("exit 3")
    (answer,) = asker.used()
    assert getattr(answer, "rc", None) == 3
    assert asker.bastion.connections == 1
