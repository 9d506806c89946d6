"""Chromium without a window, driven by its own protocol: what a reader of a page meets."""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.request import urlopen

from websocket import WebSocketTimeoutException, create_connection

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIMIT: Final = 60.0
_OPTIONS: Final = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run "
    "--disable-component-update --disable-sync --disable-default-apps --mute-audio "
    "--no-proxy-server --remote-debugging-port=0 --remote-allow-origins=* about:blank"
)
KEYS: Final = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowDown": 40}


class BrowserError(Exception):
    """The browser is not there, or did not do it."""


def installed() -> str | None:
    """The browser's program; None if there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One tab.

    Attributes:
        requested: every address that was asked for since the tab was opened.
        complaints: what its console said, refused scripts among it.
    """

    def __init__(self, address: str) -> None:
        self.requested: list[str] = []
        self.complaints: list[str] = []
        self._numbers = itertools.count(1)
        self._socket = create_connection(address, timeout=_LIMIT, suppress_origin=True)
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def close(self) -> None:
        """Leave the tab."""
        self._socket.close()

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command and its answer.

        Raises:
            BrowserError: it was refused, or not answered in time.
        """
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = self._receive(method)
            if message.get("id") == number:
                if "error" in message:
                    raise BrowserError(f"{method}: {message['error'].get('message')}")
                answer: dict[str, Any] = message["result"]
                return answer

    def _receive(self, waiting_for: str) -> dict[str, Any]:
        try:
            message: dict[str, Any] = json.loads(self._socket.recv())
        except WebSocketTimeoutException:
            raise BrowserError(f"{waiting_for}: not answered within {_LIMIT:g} s") from None
        told = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.requested.append(told["request"]["url"])
        elif message.get("method") == "Log.entryAdded":
            self.complaints.append(told["entry"]["text"])
        elif message.get("method") == "Runtime.consoleAPICalled":
            self.complaints += [str(each.get("value")) for each in told["args"]]
        return message

    def open(self, page: Path | str) -> None:
        """Go there, and come back when it has loaded."""
        self.send("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        until = time.monotonic() + _LIMIT
        while self.evaluate("document.readyState") != "complete":
            if time.monotonic() > until:
                raise BrowserError(f"{page}: not loaded within {_LIMIT:g} s")
            time.sleep(0.01)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression on the page, awaited.

        Raises:
            BrowserError: it threw.
        """
        answer = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise BrowserError(f"{expression}: {answer['exceptionDetails'].get('exception')}")
        return answer["result"].get("value")

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press and release a key of `KEYS`, or type a character."""
        code = KEYS.get(key)
        text = {"Enter": "\r"}.get(key, key) if len(key) == 1 or key == "Enter" else ""
        pressed = {"key": key, "modifiers": 8 if shift else 0}
        if code:
            pressed |= {"windowsVirtualKeyCode": code, "code": "Space" if key == " " else key}
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **pressed)
        self.send("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def screen(self, width: int, height: int, *, phone: bool = False, dark: bool = False) -> None:
        """Show pages on a screen of that size from now on."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )
        scheme = "dark" if dark else "light"
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", features=features)

    def picture(self) -> bytes:
        """What the screen shows, as PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])

    def paper(self) -> bytes:
        """What a printer would get, as PDF on A4."""
        printed = self.send(
            "Page.printToPDF", printBackground=False, paperWidth=8.27, paperHeight=11.69
        )
        return base64.b64decode(printed["data"])


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser with a profile of its own; it ends with the block.

    Raises:
        BrowserError: there is none, or it does not start.
    """
    program = installed()
    if program is None:
        raise BrowserError("chromium is not installed")
    with (
        tempfile.TemporaryDirectory(prefix="rke2-browser-", ignore_cleanup_errors=True) as profile,
        subprocess.Popen(
            [program, *_OPTIONS.split(), f"--user-data-dir={profile}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process,
    ):
        try:
            tab = Browser(_tab(Path(profile) / "DevToolsActivePort", process))
            try:
                yield tab
            finally:
                tab.close()
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _tab(told: Path, process: subprocess.Popen[bytes]) -> str:
    """The address of the first tab's protocol."""
    until = time.monotonic() + _LIMIT
    while time.monotonic() < until and process.poll() is None:
        port = told.read_text().partition("\n")[0] if told.is_file() else ""
        if port:
            with urlopen(f"http://127.0.0.1:{port}/json/list", timeout=_LIMIT) as answer:
                tabs = [each for each in json.load(answer) if each["type"] == "page"]
            if tabs:
                return str(tabs[0]["webSocketDebuggerUrl"])
        time.sleep(0.05)
    raise BrowserError("chromium did not start")
