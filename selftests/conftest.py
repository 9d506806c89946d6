"""What every selftest stands on."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_AS_A_TERMINAL_GIVES_THEM: Mapping[signal.Signals, Callable[..., Any] | signal.Handlers] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGHUP: signal.SIG_DFL,
}


@pytest.fixture(scope="session", autouse=True)
def _signals_are_heard() -> Iterator[None]:
    """SIGINT and SIGHUP as a terminal gives them, to every process a selftest starts.

    A script's `make check &` has the first ignored, `nohup` the second, and an ignored signal is
    inherited: what a selftest sends would then reach nobody.
    """
    before = {each: signal.getsignal(each) for each in _AS_A_TERMINAL_GIVES_THEM}
    for each, handler in _AS_A_TERMINAL_GIVES_THEM.items():
        if before[each] is signal.SIG_IGN:
            signal.signal(each, handler)
    yield
    for each, former in before.items():
        signal.signal(each, former)
