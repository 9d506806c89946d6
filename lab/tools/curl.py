"""curl 8 (Ubuntu 24.04) for HTTPS to the lab's own addresses."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lab import apiserver, layout
from lab.filesystem import FileError
from lab.pki import client_of
from lab.statuses import Answer, failure
from lab.tools.call import split
from lab.world import API_PORT, SUPERVISOR_PORT, Door

if TYPE_CHECKING:
    from lab.host import Host
    from lab.tools.call import Call, Options

_FLAGS = (
    "-s",
    "-S",
    "-k",
    "-f",
    "-i",
    "-v",
    "-I",
    "-L",
    "-g",
    "--silent",
    "--show-error",
    "--insecure",
    "--fail",
    "--include",
    "--fail-with-body",
    "--no-progress-meter",
)
_VALUED = (
    "-m",
    "--max-time",
    "--connect-timeout",
    "--cacert",
    "--cert",
    "-E",
    "--key",
    "-w",
    "--write-out",
    "-o",
    "--output",
    "-H",
    "--header",
    "-X",
    "--request",
)


@dataclass(frozen=True, slots=True)
class _Problem(Exception):  # noqa: N818
    rc: int
    text: str


async def curl(call: Call) -> int:
    """`curl [OPTIONS] URL`."""
    options = split(
        call.arguments,
        flags=_FLAGS,
        valued=_VALUED,
        name="curl",
        rc=2,
        refuse="curl: option {flag}: is unknown\n"
        "curl: try 'curl --help' or 'curl --manual' for more information",
    )
    if not options.rest:
        call.complain("curl: (2) no URL specified")
        call.complain("curl: try 'curl --help' or 'curl --manual' for more information")
        return 2
    loud = "-S" in options or "--show-error" in options
    silent = "-s" in options or "--silent" in options or "--no-progress-meter" in options
    code, problem = 0, None
    try:
        answer = await _fetch(call, options, options.rest[0])
        code = answer.status
        problem = _deliver(call, options, answer)
    except _Problem as met:
        problem = met
    if problem and (loud or not silent):
        call.complain(f"curl: ({problem.rc}) {problem.text}")
    report = options.get("-w", "--write-out")
    if report is not None:
        text = report.replace("%{http_code}", f"{code:03}").replace(
            "%{response_code}", f"{code:03}"
        )
        for unknown in re.findall(r"%\{(\w+)\}", text):
            call.mystery(f"curl write-out {unknown}")
        call.write(text.replace("\\n", "\n").replace("\\t", "\t"))
    return problem.rc if problem else 0


def _deliver(call: Call, options: Options, answer: Answer) -> _Problem | None:
    if answer.status >= 400 and ("-f" in options or "--fail" in options):
        return _Problem(22, f"The requested URL returned error: {answer.status}")
    target = options.get("-o", "--output")
    if "-I" in options:
        return None
    if target is None or target == "-":
        call.write(answer.body)
        return None
    try:
        call.files.write(call.path(target), answer.body.encode(), call.user)
    except FileError as error:
        return _Problem(23, f"Failed to open the file {target}: {error.reason}")
    return None


async def _fetch(call: Call, options: Options, url: str) -> Answer:
    parsed = urlsplit(url if "://" in url else f"http://{url}")
    address, port = parsed.hostname or "", parsed.port or (443 if parsed.scheme == "https" else 80)
    limit = float(options.get("-m", "--max-time") or options.get("--connect-timeout") or 127)
    client = _client(call, options)
    trust = _trust(call, options)
    host = await _connect(call, address, port, limit)
    if parsed.scheme != "https":
        raise _Problem(52, "Empty reply from server")
    if port == API_PORT and host.api_hangs:
        await asyncio.sleep(limit)
        raise _Problem(28, f"SSL connection timeout after {int(limit * 1000)} milliseconds")
    if port not in (API_PORT, SUPERVISOR_PORT):
        raise _Problem(35, "TLS connect error: error:00000000:lib(0)::reason(0)")
    if "-k" not in options and "--insecure" not in options:
        _verify(call, host, address, trust)
    target = parsed.path or "/"
    if parsed.query:
        target += "?" + parsed.query
    method = options.get("-X", "--request") or "GET"
    if port == SUPERVISOR_PORT:
        call.mystery(f"supervisor {target}")
        return failure(404, "NotFound", "the server could not find the requested resource")
    answer = apiserver.answer(
        call.world, host, method, target, client_of(client) if client else None
    )
    if not answer.known:
        call.mystery(f"API {target}")
    return answer


async def _connect(call: Call, address: str, port: int, limit: float) -> Host:
    reached = call.world.connect(call.host, address, port)
    if reached.door is Door.OPEN and reached.host is not None:
        return reached.host
    if reached.door is Door.DROPPED:
        await asyncio.sleep(limit)
        raise _Problem(28, f"Connection timed out after {int(limit * 1000)} milliseconds")
    reason = "Couldn't connect to server"
    if reached.door is Door.NO_ROUTE:
        reason = "No route to host"
    raise _Problem(7, f"Failed to connect to {address} port {port} after 0 ms: {reason}")


def _client(call: Call, options: Options) -> bytes | None:
    path, key = options.get("--cert", "-E"), options.get("--key")
    if path is None:
        return None
    try:
        certificate = call.files.read(call.path(path), call.user)
        call.files.read(call.path(key or path), call.user)
    except FileError:
        raise _Problem(
            58,
            f"could not load PEM client certificate from {path}, OpenSSL error "
            "error:80000002:system library::No such file or directory, (no key found, wrong pass "
            "phrase, or wrong file format?)",
        ) from None
    return certificate


def _trust(call: Call, options: Options) -> bytes | None:
    path = options.get("--cacert")
    if path is None:
        return None
    try:
        return call.files.read(call.path(path), call.user)
    except FileError:
        raise _Problem(
            77, f"error setting certificate verify locations:  CAfile: {path} CApath: none"
        ) from None


def _verify(call: Call, host: Host, address: str, trust: bytes | None) -> None:
    if trust != call.world.pki.server_ca.certificate or host.certificate_foreign:
        raise _Problem(60, "SSL certificate problem: unable to get local issuer certificate")
    names = host.certificate_names or certificate_names(host)
    if address not in names:
        raise _Problem(
            60,
            f"SSL: no alternative certificate subject name matches target host name '{address}'",
        )


def certificate_names(host: Host) -> tuple[str, ...]:
    """What the API's certificate of a control plane is valid for (ADR: IP-only SANs, plus RKE2's
    own names).
    """  # noqa: D205
    return (
        *layout.TLS_SAN,
        "127.0.0.1",
        "10.68.0.1",
        host.name,
        "localhost",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
    )
