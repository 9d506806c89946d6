"""This node: its effective `config.yaml`, name and address."""

from __future__ import annotations

import json
import socket
import subprocess
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Config:
    """The keys of config.yaml that the stand-in acts upon. `server` is None on the first one."""

    token: str
    server: str | None
    cluster_cidr: str
    service_cidr: str
    node_name: str
    node_ip: str
    node_labels: tuple[tuple[str, str], ...] = ()

    @property
    def api_service(self) -> str:
        """The address of the API's own service: the first of the services' network."""
        return str(IPv4Network(self.service_cidr).network_address + 1)

    @property
    def cluster_dns(self) -> str:
        """The address that answers pods' questions for names: the tenth."""
        return str(IPv4Network(self.service_cidr).network_address + 10)


def load(path: Path) -> Config:
    """Read `config.yaml`.

    Raises:
        ValueError: the file is no mapping, has no token, or a label that is none.
        OSError: the file cannot be read.
    """
    values = yaml.safe_load(path.read_text())
    if not isinstance(values, dict) or not values.get("token"):
        raise ValueError(f"{path}: a mapping with a token is required")
    return Config(
        token=str(values["token"]),
        server=values.get("server"),
        cluster_cidr=str(values.get("cluster-cidr", "10.42.0.0/16")),
        service_cidr=str(values.get("service-cidr", "10.43.0.0/16")),
        node_name=socket.gethostname(),
        node_ip=primary_address("eth0"),
        node_labels=tuple(_label(text) for text in values.get("node-label", ())),
    )


def _label(text: object) -> tuple[str, str]:
    key, equals, value = str(text).partition("=")
    if not key or not equals:
        raise ValueError(f"node-label {text!r}: <key>=<value> is required")
    return key, value


def unknown_flags(path: Path) -> list[str]:
    """The keys of config.yaml, one for each value: all of them are the server's alone.

    Raises:
        OSError, ValueError: as `load`.
    """
    values = yaml.safe_load(path.read_text())
    if not isinstance(values, dict):
        raise ValueError(f"{path}: a mapping is required")  # noqa: TRY004 a bad file, not a bad type
    return [
        str(key)
        for key, value in values.items()
        for _ in (value if isinstance(value, list) else [value])
    ]


def primary_address(interface: str) -> str:
    """The interface's first IPv4 address that is not secondary: never the VIP.

    Raises:
        ValueError: it has none.
    """
    listing = subprocess.run(
        ["ip", "-j", "-4", "addr", "show", interface], capture_output=True, text=True, check=True
    )
    for link in json.loads(listing.stdout):
        for address in link.get("addr_info", []):
            if not address.get("secondary"):
                return str(address["local"])
    raise ValueError(f"{interface} has no primary IPv4 address")
