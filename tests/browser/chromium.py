"""A headless Chromium, spoken to over a pipe in its DevTools protocol; needs nothing else.

Chromium reads commands on descriptor 3 and writes answers and events on 4, each JSON and a zero
byte (`--remote-debugging-pipe`).
"""

import base64
import contextlib
import json
import os
import select
import shlex
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

_FLAGS = (
    "--headless --remote-debugging-pipe --disable-gpu --no-first-run --disable-quic "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-default-apps --disable-extensions --mute-audio"
)
_SECONDS = 60.0
_COMPLAINTS = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")


class BrowserFault(Exception):
    """The browser refused a command, or did not answer."""


class Browser:
    """One browser with one page."""

    def __init__(self, program: str, profile: Path) -> None:
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # Root cannot use Chromium's sandbox, and all that is opened here is a page of our own.
        sandbox = " --no-sandbox" if os.geteuid() == 0 else ""
        words = (
            f"{shlex.quote(program)} {_FLAGS}{sandbox} --user-data-dir={shlex.quote(str(profile))}"
        )
        line = f"exec {words} about:blank 3<&{to_browser} 4>&{from_browser}"
        self._process = subprocess.Popen(
            ["bash", "-c", line],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for area in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            self.call(f"{area}.enable")

    def close(self) -> None:
        """End it, and everything it started."""
        os.close(self._write)
        os.close(self._read)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def call(self, method: str, **parameters: Any) -> Any:
        """Send a command; what it answers. Events that come meanwhile are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + _SECONDS
        while True:
            answer = self._next(end)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserFault(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def _next(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._read], [], [], max(end - time.monotonic(), 0))[0]:
                raise BrowserFault("no answer in time")
            data = os.read(self._read, 1 << 20)
            if not data:
                raise BrowserFault("the browser has ended")
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def show(self, file: Path, width: int, scheme: str = "light", media: str = "screen") -> None:
        """Open a file in a window of this width, in a light or dark scheme."""
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)
        self.call("Page.navigate", url=file.as_uri())
        end = time.monotonic() + _SECONDS
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next(end))

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise BrowserFault(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def requests_and_complaints(self) -> tuple[list[str], list[dict[str, Any]]]:
        """The URLs that the page has requested, without those of `data:`, and what the browser
        complained about, until a moment from now.
        """
        self.ask("new Promise(done => setTimeout(done, 200))")
        requested = [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]
        complaints = [event for event in self.events if event["method"] in _COMPLAINTS]
        return [url for url in requested if not url.startswith("data:")], complaints

    def picture(self, file: Path) -> None:
        """The whole page as a PNG."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        file.write_bytes(base64.b64decode(answer["data"]))

    def pdf(self) -> bytes:
        """The page as it is printed."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
