"""An API behind a bastion, both on loopback, and a sampler that asks it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import asyncssh
import pytest

from fixtures.drills.probes import probes
from fixtures.drills.sampler import Pace, Sampler
from selftests.drills.clock import PatientClock, Stepped
from selftests.drills.readyz import PORT, VIP, Certificates, ReadyzServer
from selftests.remote.conftest import Site, site, wetopi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fixtures.drills.probes import Bastion
    from fixtures.remote.bastion import BastionLink

__all__ = ["site", "wetopi"]

REFUSED = asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, "Connection refused")
PROHIBITED = asyncssh.ChannelOpenError(
    asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, "administratively prohibited"
)
NO_ROUTE = asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, "No route to host")


@dataclass
class Stage:
    """The site, the API behind it, and samplers started on it."""

    site: Site
    api: ReadyzServer
    certificates: Certificates
    steppers: list[Stepped] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)

    def link(self, **limits: float) -> BastionLink:
        """A connection to the bastion, established."""
        link = self.site.link(connect=10, **limits)
        link.round_trip(10)
        return link

    def stepped(
        self, bastion: Bastion | None = None, *, interval: float = 0.25, limit: float = 5.0
    ) -> Stepped:
        """A sampler of the API through the bastion."""
        targets = probes(bastion or self.link(), VIP, PORT, self.certificates.client)
        stepper = Stepped(targets, Pace(interval, limit))
        self.steppers.append(stepper)
        return stepper

    def running(self) -> Sampler:
        """A sampler that goes on by itself."""
        clock = PatientClock()
        return Sampler(
            probes(self.link(), VIP, PORT, self.certificates.client),
            Pace(0.05, 5.0),
            sink=self.records.append,
            on_change=lambda _change: None,
            clock=clock,
            pause=clock.pause,
        )

    def forward(self, target: int | asyncssh.ChannelOpenError | None) -> None:
        """Where new connections to the VIP end."""
        self.site.bastion.forwards[(VIP, PORT)] = target

    def down(self, how: asyncssh.ChannelOpenError = REFUSED) -> None:
        """Nothing serves the VIP any more."""
        self.forward(how)
        self.api.drop()

    def up(self) -> None:
        self.forward(self.api.port)


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates.issue(tmp_path_factory.mktemp("pki"))


@pytest.fixture
def stage(site: Site, certificates: Certificates) -> Iterator[Stage]:
    api = ReadyzServer(certificates.server).start()
    stage = Stage(site, api, certificates)
    stage.up()
    yield stage
    api.release()
    for stepper in stage.steppers:
        with contextlib.suppress(Exception):
            stepper.stop()
    api.stop()
