"""What is relied on inside paramiko; a new version that lacks it fails here by name."""

from __future__ import annotations

import inspect
import logging

import paramiko
import pytest
from paramiko.agent import AgentSSH
from paramiko.auth_handler import AuthHandler
from paramiko.buffered_pipe import BufferedPipe
from paramiko.packet import Packetizer

import fixtures.remote.connection  # noqa: F401 - silences paramiko


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (paramiko.Transport, "_channel_handler_table"),
        (paramiko.Transport, "_next_channel"),
        (paramiko.Transport, "_send_user_message"),
        (paramiko.Transport, "_parse_channel_open_success"),
        (paramiko.Transport, "_parse_channel_open_failure"),
        (paramiko.Transport, "_parse_disconnect"),
        (paramiko.Transport, "_parse_request_success"),
        (paramiko.Transport, "_parse_request_failure"),
        (paramiko.Channel, "_set_transport"),
        (paramiko.Channel, "_set_window"),
        (paramiko.Channel, "_handle_request"),
        (paramiko.Channel, "_handle_close"),
        (paramiko.Channel, "_request_failed"),
        (AuthHandler, "_parse_service_accept"),
        (AgentSSH, "_connect"),
        (AgentSSH, "_send_message"),
        (BufferedPipe, "set_event"),
        (Packetizer, "start_handshake"),
        (Packetizer, "set_keepalive"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_paramiko_still_has(owner: type, name: str) -> None:
    assert hasattr(owner, name)


def test_paramiko_still_opens_channels_as_this_connection_does() -> None:
    source = inspect.getsource(paramiko.Transport.open_channel)
    for step in (
        "self._next_channel()",
        "self._channels.put(chanid, chan)",
        "self.channel_events[chanid] = event",
        "self.channels_seen[chanid] = True",
        "chan._set_transport(self)",
        "chan._set_window(window_size, max_packet_size)",
        "self._send_user_message(m)",
    ):
        assert step in source


def test_paramiko_logs_nothing_of_what_remote_hosts_say() -> None:
    assert not logging.getLogger("paramiko.transport").isEnabledFor(logging.CRITICAL)
