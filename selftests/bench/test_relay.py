"""The benchmark's instrument: it forwards faithfully and counts."""

from __future__ import annotations

import asyncio

import pytest

from bench.relay import Relay, RelayProcess


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(1024):
        writer.write(piece)
        await writer.drain()
    writer.close()


async def through_relay(words: list[bytes]) -> tuple[list[bytes], int]:
    """Send words one by one and wait for each echo: what came, and the connections counted."""
    far = await asyncio.start_server(echo, "127.0.0.1", 0)
    relay = Relay(far.sockets[0].getsockname()[1])
    near = await relay.serve()
    reader, writer = await asyncio.open_connection(*near.sockets[0].getsockname())
    came = []
    for word in words:
        writer.write(word)
        came.append(await reader.readexactly(len(word)))
    writer.close()
    assert await reader.read() == b""
    near.close()
    far.close()
    return came, relay.connections


def test_forwards_what_it_gets() -> None:
    words = [b"one", b"two" * 1000, b"\x00\xff"]
    assert asyncio.run(through_relay(words)) == (words, 1)


def test_process_counts_and_ends() -> None:
    relay = RelayProcess(target=9)
    try:
        assert relay.take_connections() == 0
        assert asyncio.run(connects(relay.port))
        assert relay.take_connections() == 1
        assert relay.take_connections() == 0
    finally:
        relay.close()


async def connects(port: int) -> bool:
    """Whether the port accepts; the relay then finds nobody behind it and closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with pytest.raises(asyncio.IncompleteReadError):
        await reader.readexactly(1)
    writer.close()
    return True
