"""Keys, passphrases and agents; one attempt per host, whatever happens."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING

import paramiko
import pytest

from fixtures.core.requests import HostCommand, Output, Silence
from fixtures.remote.asker import RemoteAsker
from selftests.remote.conftest import BASTION, new_key
from selftests.remote.sockets import Relay

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selftests.remote.conftest import Site

pytestmark = pytest.mark.filterwarnings("ignore:Warning. bcrypt.kdf:UserWarning")
SECRET = "correct horse"


def use_key(site: Site, kind: str) -> None:
    site.user_key = new_key(kind)
    for host in (site.bastion, site.cp01, site.cp02):
        host.accepted[:] = [site.user_key.convert_to_public()]


def reason(site: Site, asker: RemoteAsker, host: str = BASTION) -> str:
    answer = site.ask(asker, "exit 0", host)
    assert isinstance(answer, Silence)
    return answer.reason


@pytest.mark.parametrize(
    "kind", ["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp521", "ssh-rsa"]
)
@pytest.mark.parametrize("form", ["openssh", "pkcs8-pem"])
def test_key_files_of_every_type_log_in(site: Site, kind: str, form: str) -> None:
    use_key(site, kind)
    site.write_key(form=form)
    assert isinstance(site.ask(site.asker(), "exit 0"), Output)
    assert len(site.bastion.offers) == len(site.cp01.offers) == 1


@pytest.mark.parametrize("form", ["openssh", "pkcs8-pem", "pkcs1-pem"])
def test_the_passphrase_is_asked_once_and_told_to_the_redaction_only(
    site: Site, form: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    use_key(site, "ssh-rsa")
    site.write_key(SECRET, form)
    prompts: list[str] = []
    learnt: list[str] = []

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return SECRET

    link = site.link(passphrase=ask, learn=learnt.append)
    asker = RemoteAsker(link.cluster, link, progress=site.said.append)
    hosts = (BASTION, "rke-cp01", "rke-cp02")
    answers = asker.ask([HostCommand(host, "exit 0", 20) for host in hosts])
    assert {type(answer) for answer in answers.values()} == {Output}
    assert len(prompts) == 1
    assert str(site.key_file) in prompts[0]
    assert learnt == [SECRET]
    assert SECRET not in caplog.text + repr(site.said) + repr(answers)


def test_a_wrong_passphrase_is_one_sentence_and_nobody_is_contacted(site: Site) -> None:
    site.write_key(SECRET)
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return "wrong"

    link = site.link(passphrase=ask)
    asker = RemoteAsker(link.cluster, link)
    assert "is not the right one" in reason(site, asker)
    asker.forget()
    assert "is not the right one" in reason(site, asker)
    assert len(asked) == 1
    assert site.bastion.offers == []


def test_without_a_terminal_nobody_can_be_asked() -> None:
    code = "from fixtures.remote.credentials import terminal_passphrase as ask; print(ask())"
    run = subprocess.run(
        [sys.executable, "-c", code], start_new_session=True, capture_output=True, check=True
    )
    assert run.stdout == b"None\n"


def test_an_encrypted_key_without_terminal_names_the_agent(site: Site) -> None:
    site.write_key(SECRET)
    text = reason(site, site.asker())
    assert "no terminal" in text
    assert f"ssh-add {site.key_file}" in text
    assert site.bastion.offers == []


def test_a_key_that_others_can_read_is_not_used(site: Site) -> None:
    site.key_file.chmod(0o644)
    text = reason(site, site.asker())
    assert "mode 0644" in text
    assert f"chmod 600 {site.key_file}" in text
    assert site.bastion.offers == []


@pytest.mark.parametrize("content", [b"", b"not a key\n", b"-----BEGIN OPENSSH PRIVATE KEY-----\n"])
def test_a_file_that_is_no_key_is_one_sentence(site: Site, content: bytes) -> None:
    site.key_file.write_bytes(content)
    assert f"the private key {site.key_file} cannot be used" in reason(site, site.asker())


def test_a_missing_key_file_is_one_sentence(site: Site) -> None:
    site.key_file.unlink()
    assert "No such file or directory" in reason(site, site.asker())


@pytest.mark.parametrize("after", ["nothing", "disconnect"])
def test_a_refused_key_is_offered_once_per_run(site: Site, after: str) -> None:
    site.bastion.accepted.clear()
    site.bastion.after_refusal = after
    relay = site.behind_relay(Relay(site.bastion.port))
    asker = site.asker()
    text = reason(site, asker)
    assert "refuses to log ubuntu in" in text
    assert site.user_key.get_fingerprint() in text
    assert str(site.key_file) in text
    assert ("(Too many\\x1b[31m failures)" in text) is (after == "disconnect")
    assert text.isprintable()
    asker.ask([HostCommand(host, "exit 7", 20) for host in (BASTION, "rke-cp01", "rke-cp02")])
    asker.forget()
    assert "refuses to log ubuntu in" in reason(site, asker)
    assert len(site.bastion.offers) == 1
    assert relay.accepted == 1


def test_a_key_refused_by_one_node_is_offered_once_there(site: Site) -> None:
    site.cp01.accepted = []
    asker = site.asker()
    for command in ("exit 0", "exit 1"):
        asker.ask([HostCommand(host, command, 20) for host in ("rke-cp01", "rke-cp02")])
        asker.forget()
    assert "rke-cp01 (10.72.0.21 port 22) refuses" in reason(site, asker, "rke-cp01")
    assert len(site.cp01.offers) == 1
    assert isinstance(site.ask(asker, "exit 0", "rke-cp02"), Output)


def test_a_server_that_hangs_up_on_our_key_is_not_tried_again(site: Site) -> None:
    site.bastion.accepted.clear()
    site.bastion.after_refusal = "hang up"
    asker = site.asker()
    assert "hung up during the authentication" in reason(site, asker)
    site.ask(asker, "exit 1", BASTION)
    assert len(site.bastion.offers) == 1


def test_a_server_that_never_answers_our_key_is_silence_within_the_limit(site: Site) -> None:
    site.bastion.answers_auth = False
    asker = site.asker(connect=1.5, command=20)
    assert "did not answer the authentication within 1.5 s" in reason(site, asker)
    site.ask(asker, "exit 1", BASTION)
    assert len(site.bastion.offers) == 1


def test_a_server_that_takes_no_keys_is_one_sentence(site: Site) -> None:
    site.bastion.takes_keys = False
    assert "does not allow keys for ubuntu, only keyboard-interactive" in reason(site, site.asker())


class TwoFactors(paramiko.ServerInterface):
    """Accepts any key and asks for more."""

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        return paramiko.AUTH_PARTIALLY_SUCCESSFUL

    def get_allowed_auths(self, username: str) -> str:
        return "keyboard-interactive"


def test_a_second_factor_is_one_sentence(site: Site) -> None:
    host_key = paramiko.ECDSAKey.generate()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            transport = paramiko.Transport(connection)
            transport.add_server_key(host_key)
            transport.start_server(server=TwoFactors())

        threading.Thread(target=serve, daemon=True).start()
        port = listener.getsockname()[1]
        line = f"[127.0.0.1]:{port} {host_key.get_name()} {host_key.get_base64()}\n"
        site.known_hosts.write_text(line)
        site.bastion.stop()
        site.raw = SimpleNamespace(port=port, stop=lambda: None)  # type: ignore[assignment]
        text = reason(site, site.asker())
    assert "also demands keyboard-interactive: a second factor is not supported" in text


def test_without_key_and_agent_nobody_is_contacted(site: Site) -> None:
    assert "run `ssh-add`" in reason(site, site.asker(key=None))
    assert site.bastion.offers == []


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for keys, with an OpenSSH agent that is asked through the environment."""
    path = tmp_path / "agent.sock"
    with subprocess.Popen(["ssh-agent", "-D", "-a", str(path)], stdout=subprocess.DEVNULL) as run:
        while not path.exists():
            assert run.poll() is None
            os.sched_yield()
        monkeypatch.setenv("SSH_AUTH_SOCK", str(path))
        yield tmp_path
        run.terminate()


def add(folder: Path, key: object, name: str) -> None:
    path = folder / name
    path.write_bytes(key.export_private_key())  # type: ignore[attr-defined]
    path.chmod(0o600)
    subprocess.run(["ssh-add", "-q", str(path)], check=True)
    path.unlink()


@pytest.mark.external
@pytest.mark.parametrize("kind", ["ssh-ed25519", "ssh-rsa"])
def test_the_agent_logs_in_everywhere_at_once_without_a_key_in_the_inventory(
    site: Site, agent: Path, kind: str
) -> None:
    use_key(site, kind)
    add(agent, site.user_key, "mine")
    asker = site.asker(key=None, command=20)
    hosts = (BASTION, "rke-cp01", "rke-cp02")
    answers = asker.ask([HostCommand(host, "exit 0", 20) for host in hosts])
    assert {type(answer) for answer in answers.values()} == {Output}


@pytest.mark.external
@pytest.mark.parametrize("form", ["openssh", "pkcs8-pem"])
def test_the_agent_is_asked_for_the_inventory_s_encrypted_key_only(
    site: Site, agent: Path, form: str
) -> None:
    for n in range(3):
        add(agent, new_key(), f"other{n}")
    add(agent, site.user_key, "mine")
    site.write_key(SECRET, form)
    site.key_file.with_name("id_ed25519.pub").write_bytes(site.user_key.export_public_key())
    assert isinstance(site.ask(site.asker(), "exit 0", BASTION), Output)
    assert site.bastion.offers == [site.user_key.get_fingerprint()]


@pytest.mark.external
def test_of_many_agent_keys_only_five_are_offered(site: Site, agent: Path) -> None:
    for n in range(7):
        add(agent, new_key(), f"other{n}")
    text = reason(site, site.asker(key=None))
    assert "refuses to log ubuntu in" in text
    assert len(site.bastion.offers) == 5
    assert len(site.bastion.connections) == 1


def test_an_agent_that_is_gone_is_one_sentence(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", str(site.folder / "gone.sock"))
    assert "does not answer" in reason(site, site.asker(key=None))
