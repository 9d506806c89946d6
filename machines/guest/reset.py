"""`rke2 server --cluster-reset`: restores with real etcdutl and starts a real etcd of one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from . import balancer, bootstrap, etcd, journal
from .paths import DATA, ETCD, PROGRAMS, RESET_FLAG, SNAPSHOTS, TOKEN, VERSION

if TYPE_CHECKING:
    from .config import Config
    from .etcd import Member

_POLL: Final = 0.2
_LOGGER: Final = "k3s-etcd-client"
_PLACE: Final = "starting kubernetes: failed to start cluster: start managed database"
_DONE: Final = (
    "Managed etcd cluster membership has been reset, restart without --cluster-reset flag now. "
    "Backup and delete ${datadir}/server/db on each peer etcd server and rejoin the nodes"
)


class ResetError(Exception):
    """The managed database did not start; the text is the real server's, without its prefix."""


def run(config: Config, path: str) -> int:
    """Reset this node's etcd to a cluster of one, from the snapshot at `path` if not empty.

    The exit status: 0 only behind the sentence that the real server writes at level=error.
    """
    journal.info(f"Starting rke2 {VERSION}")
    if config.server is not None:
        return _refused(
            "cannot perform cluster-reset while server URL is set - remove server from "
            "configuration before resetting"
        )
    if not config.token and not TOKEN.exists():
        return _refused(f"{TOKEN} does not exist, please pass --token to complete the restoration")
    try:
        balancing = balancer.listen()
    except balancer.TakenError as taken:
        journal.warning(f"Error starting load balancer: {taken}")
        return _refused(str(taken))
    with balancing:
        try:
            return _reset(config, path)
        except ResetError as reason:
            journal.info("Shutdown request received")
            journal.warning("failed to list etcd members: context canceled")
            return _refused(f"{_PLACE}: {reason}")


def _refused(why: str) -> int:
    journal.fatal(f"Error: {why}")
    return 1


def _reset(config: Config, path: str) -> int:
    journal.info("Managed etcd cluster bootstrap already complete and initialized")
    member = etcd.new_member(config.node_name, config.node_ip)
    if path:
        _check(path)
        _stop_container()
        _move_aside()
        _restore(member, path)
    elif RESET_FLAG.exists():
        raise ResetError(
            "Managed etcd cluster membership was previously reset, please remove the "
            "cluster-reset flag and start rke2 normally. If you need to perform another cluster "
            f"reset, you must first manually delete the file at {RESET_FLAG}"
        )
    else:
        _stop_container()
    etcd.configure_reset(member)
    RESET_FLAG.touch(mode=0o600)
    journal.info("Starting etcd for new cluster, cluster-reset=true")
    server = subprocess.Popen([str(PROGRAMS / "etcd"), f"--config-file={ETCD}/config"])
    try:
        _await_serving(server)
        return _finish(config)
    finally:
        journal.info("Stopping etcd server...")
        server.terminate()
        server.wait()
        journal.info("etcd server stopped")


def _finish(config: Config) -> int:
    journal.info(f"Server node token is available at {TOKEN}")
    journal.info("ETCD server is now running")
    journal.info("rke2 is up and running")
    journal.info("Saving cluster bootstrap data to datastore")
    try:
        if bootstrap.reconcile(config.token):
            journal.warning("Bootstrap key already exists")
    except bootstrap.WrongTokenError as wrong:
        journal.error(f'Shutdown request received: "{wrong}"')
        journal.fatal("context canceled")
        return 1
    journal.info("Reconciling bootstrap data between datastore and disk")
    backup = DATA / f"server/tls-{int(time.time())}"
    journal.info(f"Cluster reset: backing up certificates directory to {backup}")
    shutil.copytree(DATA / "server/tls", backup, dirs_exist_ok=True)
    journal.warning("Updating bootstrap data on disk from datastore")
    journal.error(f'Shutdown request received: "{_DONE}"')
    return 0


def _check(path: str) -> None:
    place = Path(path)
    if not place.exists():
        raise ResetError(f"etcd: snapshot path does not exist: {path}")
    if place.is_dir():
        raise ResetError(f"etcd: snapshot path must be a file, not a directory: {path}")
    if path.endswith(".zip"):
        journal.info(f"Decompressing etcd snapshot file: {path}")
        raise ResetError(f"open {SNAPSHOTS}{path}: no such file or directory")


def _stop_container() -> None:
    """The container that a stop of the unit left running has the database open."""
    subprocess.run(
        ["systemctl", "stop", "rke2-container@etcd.service"], capture_output=True, check=False
    )


def _move_aside() -> None:
    aside = ETCD.with_name(f"etcd-old-{int(time.time())}")
    try:
        ETCD.rename(aside)
    except FileNotFoundError:
        raise ResetError(f"rename {ETCD} {aside}: no such file or directory") from None
    journal.info(f"Pre-restore etcd database moved to {aside}")


def _restore(member: Member, path: str) -> None:
    done = subprocess.run(
        [
            *(str(PROGRAMS / "etcdutl"), "snapshot", "restore", path),
            *("--name", member.name, "--data-dir", str(ETCD)),
            *("--initial-cluster", f"{member.name}={member.peer_url}"),
            *("--initial-advertise-peer-urls", member.peer_url),
        ],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    lines = done.stderr.splitlines()
    failed = [line.removeprefix("Error: ") for line in lines if line.startswith("Error: ")]
    sys.stderr.writelines(f"{line}\n" for line in map(_as_json, lines) if line)
    sys.stderr.flush()
    if done.returncode != 0:
        raise ResetError(failed[-1] if failed else f"etcdutl ended with {done.returncode}")


def _as_json(line: str) -> str:
    """A line of etcdutl's console form as the server logs it; empty for any other line.

    Time, level, sometimes the logger's name, caller, message, sometimes details as JSON.
    """
    at, *rest = line.split("\t")
    details = json.loads(rest.pop()) if rest and rest[-1].startswith("{") else {}
    match rest:
        case [level, caller, message] | [level, _, caller, message]:
            told = {"level": level, "ts": at, "logger": _LOGGER, "caller": caller, "msg": message}
            return json.dumps({**told, **details})
    return ""


def _await_serving(server: subprocess.Popen[bytes]) -> None:
    """Without limit, as the real server."""
    while server.poll() is None:
        try:
            etcd.ctl("endpoint", "health")
        except etcd.EtcdError as reason:
            journal.info(f"Failed to test etcd connection: {reason}")
            time.sleep(_POLL)
        else:
            journal.info("Connection to etcd is ready")
            return
    raise ResetError(f"etcd ended with {server.returncode}")
