"""A host whose key is not the known one is told nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.core.requests import Output, Silence
from selftests.remote.conftest import BASTION, known_line, new_key

if TYPE_CHECKING:
    from selftests.remote.conftest import Site
    from selftests.remote.hosts import SshHost


def of(site: Site, host: str) -> tuple[SshHost, str]:
    return (site.bastion, site.bastion_name) if host == BASTION else (site.cp01, "10.72.0.21")


def refused(site: Site, host: str) -> str:
    """The reason for the silence; no key of ours was shown, and nothing was tried again."""
    asker = site.asker()
    reasons = set()
    for command in ("exit 0", "exit 1"):
        answer = site.ask(asker, command, host)
        assert isinstance(answer, Silence)
        reasons.add(answer.reason)
    asker.forget()
    assert isinstance(site.ask(asker, "exit 0", host), Silence)
    server, _ = of(site, host)
    assert server.offers == []
    assert len(server.connections) == 1
    (reason,) = reasons
    return reason


@pytest.mark.parametrize("host", [BASTION, "rke-cp01"])
def test_an_unknown_host_key_is_refused_with_fingerprint_and_line_to_add(
    site: Site, host: str
) -> None:
    server, name = of(site, host)
    lines = site.known_hosts.read_text().splitlines(keepends=True)
    site.known_hosts.write_text("".join(line for line in lines if not line.startswith(name)))
    reason = refused(site, host)
    assert host in reason
    assert server.host_keys[0].get_fingerprint() in reason
    assert str(site.known_hosts) in reason
    assert "add this line" in reason
    assert known_line(name, server.host_keys[0]).strip().rsplit(" ", 1)[0] in reason


@pytest.mark.parametrize("host", [BASTION, "rke-cp01"])
def test_a_changed_host_key_is_refused_with_both_fingerprints_and_the_line(
    site: Site, host: str
) -> None:
    server, name = of(site, host)
    old = server.host_keys[0]
    server.host_keys = [new_key()]
    server.restart()
    number = 1 if host == BASTION else 2
    reason = refused(site, host)
    assert "HAS CHANGED" in reason
    assert server.host_keys[0].get_fingerprint() in reason
    assert f"{old.get_fingerprint()} (line {number})" in reason
    assert "ssh-keygen -R" in reason
    assert name in reason


def test_a_revoked_host_key_is_refused_even_if_it_is_also_listed(site: Site) -> None:
    site.write_known_hosts("@revoked " + known_line("10.72.0.21", site.cp01.host_keys[0]))
    reason = refused(site, "rke-cp01")
    assert "line 4 marks as revoked" in reason


def test_a_known_key_of_one_type_is_not_confused_by_a_second_type(site: Site) -> None:
    known = new_key("ecdsa-sha2-nistp256")
    site.cp01.host_keys = [new_key(), known]
    site.cp01.restart()
    site.known_hosts.write_text(
        known_line(site.bastion_name, site.bastion.host_keys[0]) + known_line("10.72.0.21", known)
    )
    assert isinstance(site.ask(site.asker(), "exit 0"), Output)


def test_a_host_that_only_has_a_key_of_another_type_has_changed(site: Site) -> None:
    site.cp01.host_keys = [new_key("ecdsa-sha2-nistp256")]
    site.cp01.restart()
    assert "HAS CHANGED" in refused(site, "rke-cp01")


@pytest.mark.parametrize("kind", ["ssh-ed25519", "ecdsa-sha2-nistp384", "ssh-rsa"])
def test_every_type_of_host_key_is_verified(site: Site, kind: str) -> None:
    site.cp01.host_keys = [new_key(kind)]
    site.cp01.restart()
    site.write_known_hosts()
    assert isinstance(site.ask(site.asker(), "exit 0"), Output)


def test_a_missing_known_hosts_file_means_that_nobody_is_contacted(site: Site) -> None:
    site.known_hosts.unlink()
    answer = site.ask(site.asker(), "exit 0", BASTION)
    assert isinstance(answer, Silence)
    assert "cannot be read" in answer.reason
    assert site.bastion.connections == []


def test_the_operator_s_ssh_config_plays_no_part(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = site.folder / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "config").write_text("Host *\n  GSSAPIAuthentication yes\n  Port 1\n")
    monkeypatch.setenv("HOME", str(home))
    assert isinstance(site.ask(site.asker(), "exit 0"), Output)
