"""The same promises kept with an OpenSSH server instead of a Python one."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fixtures.core.requests import HostCommand, Output, Silence
from fixtures.remote.asker import RemoteAsker
from fixtures.remote.bastion import BastionLink
from fixtures.remote.errors import ChannelRefusedError
from selftests.remote.conftest import BASTION, known_line, new_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selftests.remote.conftest import Site

pytestmark = pytest.mark.external

MIB = 1024 * 1024


class Sshd:
    """A bastion played by sshd, as the user who runs the tests."""

    def __init__(self, site: Site, folder: Path) -> None:
        self._site = site
        self.log = folder / "sshd.log"
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = int(probe.getsockname()[1])
        host_key = new_key()
        (folder / "host_key").write_bytes(host_key.export_private_key())
        (folder / "host_key").chmod(0o600)
        (folder / "authorized").write_bytes(site.user_key.export_public_key())
        (folder / "sshd_config").write_text(
            f"ListenAddress 127.0.0.1:{self.port}\n"
            f"HostKey {folder}/host_key\nAuthorizedKeysFile {folder}/authorized\n"
            f"PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
            f"KbdInteractiveAuthentication no\nMaxAuthTries 2\nPermitRootLogin yes\n"
            f"LogLevel VERBOSE\n"
        )
        site.known_hosts.write_text(known_line(f"[127.0.0.1]:{self.port}", host_key))
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [str(server()), "-D", "-E", str(self.log), "-f", str(folder / "sshd_config")]
        )
        self.await_log("Server listening")

    def await_log(self, text: str) -> str:
        """The server's log once it has `text`."""
        while text not in (log := self.log.read_text() if self.log.exists() else ""):
            assert self.process.poll() is None
            os.sched_yield()
        return log

    def asker(self, **limits: float) -> RemoteAsker:
        cluster = self._site.cluster(**limits)
        bastion = replace(cluster.bastion, port=self.port, user=getpass.getuser())
        link = BastionLink(replace(cluster, bastion=bastion))
        self._site.links.append(link)
        return RemoteAsker(link.cluster, link)


def server() -> Path:
    found = shutil.which("sshd") or "/usr/sbin/sshd"
    return Path(found)


@pytest.fixture
def sshd(site: Site, tmp_path: Path) -> Iterator[Sshd]:
    running = Sshd(site, tmp_path)
    yield running
    running.process.terminate()
    running.process.wait(10)


def ask(asker: RemoteAsker, command: str, limit: float = 10) -> Output | Silence:
    request = HostCommand(BASTION, command, limit)
    answer = asker.ask([request])[request]
    assert isinstance(answer, Output | Silence)
    return answer


@pytest.mark.parametrize(
    ("command", "rc"),
    [("true", 0), ("exit 255", 255), ("kill -9 $$", 137), ("cat", 0)],
)
def test_exit_codes(sshd: Sshd, command: str, rc: int) -> None:
    answer = ask(sshd.asker(), command)
    assert isinstance(answer, Output)
    assert answer.rc == rc


def test_big_streams_and_many_commands_over_one_connection(sshd: Sshd) -> None:
    asker = sshd.asker()
    big = ask(asker, f"head -c {4 * MIB} /dev/zero >&2; head -c {20 * MIB} /dev/zero", 30)
    assert isinstance(big, Output)
    assert len(big.stdout) + len(big.stderr) + big.cut == 24 * MIB
    requests = [HostCommand(BASTION, f"echo {n}", 20) for n in range(60)]
    answers = asker.ask(requests)
    assert [getattr(answers[request], "stdout", b"") for request in requests] == [
        f"{n}\n".encode() for n in range(60)
    ]
    assert asker.bastion.connections == 1


def test_a_process_that_never_ends(sshd: Sshd) -> None:
    asker = sshd.asker()
    silence = ask(asker, "sleep 3600", 0.5)
    assert isinstance(silence, Silence)
    assert "did not end within 0.5 s" in silence.reason
    assert isinstance(ask(asker, "true"), Output)
    assert asker.bastion.connections == 1


def test_a_wrong_key_is_one_failed_attempt_in_the_server_s_log(sshd: Sshd, site: Site) -> None:
    site.user_key = new_key()
    site.write_key()
    asker = sshd.asker()
    for command in ("true", "false"):
        silence = ask(asker, command)
        assert isinstance(silence, Silence)
        assert "refuses to log" in silence.reason
    asker.forget()
    ask(asker, "true")
    assert asker.bastion.connections == 1
    assert sshd.await_log("Failed publickey").count("Failed publickey") == 1


def test_the_reason_of_a_refused_channel_is_the_system_s(sshd: Sshd) -> None:
    asker = sshd.asker()
    link = asker.bastion
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with pytest.raises(ChannelRefusedError, match=r"^Connection refused$"):
        link.channel("127.0.0.1", port, 5)
