"""Secrets planted wherever the suite could meet one, and the search for them in what it wrote."""

from __future__ import annotations

import base64
import json
import secrets
import subprocess
import sys
import threading
import urllib.parse
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab.pki import Pki
from lab.seed import Seed
from selftests.project.tree import ROOT
from selftests.session.suite import Ended, environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIMIT = 240
NOISY = (
    "etcdctl|systemctl show|get nodes|get pods|journalctl|helm|cilium (status|connectivity)"
    "|cilium-health|hubble|argocd|ip -j|nft|tofu|ping -|crictl|git -C|rbd|secrets-encrypt"
    "|keepalived"
)
"""Commands that may complain without making a gate undecided."""
ENVIRONMENT = {
    "ARGOCD_REPO_TOKEN": "the environment, a token",
    "CEPH_USER_KEY": "the environment, a key",
}
NAMESPACES = ("default", "kube-public", "kube-system")


def drawn() -> str:
    """A value that is nowhere else, looks like a password, and is another one in a URL."""
    return f"Pl4nt{secrets.token_hex(12)}+{secrets.token_hex(2)}=="


@dataclass
class Planted:
    """The secrets of one run.

    Attributes:
        folder: the run's own; `reports` and `tmp` in it are what is searched.
        values: by where it was planted.
        passing: by name, what was seen in the temporary folder while runs lasted.
    """

    folder: Path
    values: dict[str, str] = field(default_factory=dict)
    passing: dict[str, bytes] = field(default_factory=dict)

    @property
    def reports(self) -> Path:
        """Where the run writes."""
        return self.folder / "reports"

    def plant(self, where: str, value: str | None = None) -> str:
        """A secret in that place, the same in each run; returns it."""
        return self.values.setdefault(where, value or drawn())

    def plant_the_labs(self) -> None:
        """What the lab itself keeps secret: the join token, keys, and what its Secrets hold."""
        home = self.reports / ".lab"
        home.mkdir(parents=True)
        seed = Seed.kept_in(home)
        self.plant("the join token", seed.hex("token", digits=32))
        key = Pki(seed).admin().key.decode()
        self.plant("the admin's key", "".join(key.splitlines()[1:-1]))
        self.plant("the Ceph key", "AQD_lab_only_not_a_key_at_all_==")
        self.plant("the repository's credential", "lab-only-no-token-at-all")
        self.plant("the password of Argo CD", "lab-only-no-password")

    def scenario(self, faults: str = "") -> Path:
        """A healthy lab whose Secrets, files, outputs and journals hold planted values."""
        said = "; ".join(self._said())
        lines = [
            "name: secrets wherever they could be",
            "faults:",
            *(
                f"  - stderr-noise: {{host: '{host}', text: {_quoted(said)}, command: '{NOISY}'}}"
                for host in ("rke-*", "*ops01", "*natgw01")
            ),
            *(
                f"  - server-writes: {{node: {node}, text: {_quoted(self._journal(node))}}}"
                for node in ("rke-cp01", "rke-cp02", "rke-cp03")
            ),
            *([faults] if faults else []),
            "objects:",
        ]
        for namespace in NAMESPACES:
            value = self.plant(f"a Secret of {namespace}").encode()
            held = base64.b64encode(value).decode()
            lines.append(
                f"  - {{kind: Secret, namespace: {namespace}, name: planted, "
                f"merge: {{type: Opaque, data: {{password: {held}}}}}}}"
            )
        told = f"token: {self.plant('a file of the controller')}"
        lines += ["files:", f"  - {{path: tmp/notes, content: {_quoted(told)}}}"]
        path = self.folder / "planted.yaml"
        path.write_text("\n".join(lines) + "\n")
        return path

    def _said(self) -> Iterator[str]:
        """What commands complain of: by name, in a URL, encoded, in a sentence, cut in two."""
        yield f"password={self.plant('stderr, a password')}"
        yield f"token: {self.plant('stderr, a token')}"
        yield f"Authorization: Bearer {self.plant('stderr, a bearer')}"
        quoted = urllib.parse.quote(self.plant("stderr, a URL"), safe="")
        yield f"https://admin:{quoted}@git.example/infra"
        yield f"K10{secrets.token_hex(32)}::server:{self.values['the join token']}"
        yield f"the token {self.plant('stderr, in a sentence')} is not valid"
        fields = {"name": "ADMIN_PASSWORD", "value": self.plant("stderr, a field")}
        yield json.dumps({"env": [fields]})
        yield f"<adminPassword>{self.plant('stderr, an element')}</adminPassword>"
        yield f"ran sshpass -p {self.plant('stderr, an option')} ssh host"
        yield f"wrong password '{self.plant('stderr, a quotation')}' for admin"
        twice = _base64(json.dumps({"password": self.plant("stderr, encoded twice")}))
        yield _base64(twice)
        yield "client-key-data: " + _base64(self.plant("stderr, base64 of a key"))
        # What stands under no name that tells: known, for the run has it in its environment.
        for where in ENVIRONMENT.values():
            value = self.plant(where)
            yield f"asked with {value}, {_base64(value)}, {urllib.parse.quote(value, safe='')}"
        yield f"cut off: {self.plant(ENVIRONMENT['ARGOCD_REPO_TOKEN'])[:-9]}"

    def _journal(self, node: str) -> str:
        said = f"agent said token: {self.plant(f'the journal of {node}')}"
        known = _base64(self.plant(ENVIRONMENT["CEPH_USER_KEY"]))
        return f'time="2026-12-01T03:04:05Z" level=info msg="{said}, and {known}"'

    def run(self, *arguments: str) -> Ended:
        """The suite on the lab, with secrets in its own environment too."""
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        more = {name: self.plant(where) for name, where in ENVIRONMENT.items()}
        more["BUILD_TAG"] = f"password={self.plant('the environment, for the report')}"
        where = ["--lab", f"--reports={self.reports}", f"--junitxml={self.reports / 'junit.xml'}"]
        with watching(temporary, self.passing):
            done = subprocess.run(
                [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *where, *arguments],
                cwd=ROOT,
                env=environment(TMPDIR=str(temporary), **more),
                capture_output=True,
                text=True,
                timeout=LIMIT,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        return Ended(done.returncode, done.stdout + done.stderr)

    def found(self, ended: Ended) -> list[str]:
        """Where which secret is, in whatever form: files that the suite wrote, console, argv."""
        texts = {"the console": ended.text.encode(), **self.passing, **dict(self._files())}
        return [
            f"{where}: {name}"
            for where, text in texts.items()
            for name, value in self.values.items()
            if any(form in text for form in forms(value))
        ]

    def _files(self) -> Iterator[tuple[str, bytes]]:
        """Everything below the reports and the temporary folder but the lab's own machines.

        Of the lab, only what was asked of its hosts: no secret belongs into a command line.
        """
        lab = self.reports / ".lab"
        for path in [*self.reports.rglob("*"), *(self.folder / "tmp").rglob("*")]:
            asked = path.name == "commands.jsonl"
            if path.is_file() and (asked or not path.is_relative_to(lab)):
                yield str(path.relative_to(self.folder)), path.read_bytes()


@contextmanager
def watching(folder: Path, seen: dict[str, bytes]) -> Iterator[None]:
    """Remember what files of that folder hold, also those that are gone again."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.02):
            for path in folder.rglob("*"):
                with suppress(OSError):
                    if path.is_file():
                        name = f"passing through {path.relative_to(folder)}"
                        seen[name] = max(seen.get(name, b""), path.read_bytes(), key=len)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join(10)


def _base64(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


def _quoted(text: str) -> str:
    """As a scalar of YAML."""
    return "'" + text.replace("'", "''") + "'"


def forms(value: str) -> set[bytes]:
    """How a value may look: as it is, URL encoded, in hexadecimal, base64 at each alignment."""
    raw = value.encode()
    found = {raw, urllib.parse.quote(value, safe="").encode(), raw.hex().encode()}
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw)
        found.add(encoded[(shift * 8 + 5) // 6 : (shift + len(raw)) * 8 // 6])
    return found
