"""A headless Chromium, driven by Playwright; the browser is the system's."""

import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="no playwright: `nox -s browser` installs it")

from playwright.sync_api import BrowserContext, Page, Request, sync_playwright

SECONDS = 60.0


class Browser:
    """One browser with one page.

    Attributes:
        page: the page, for what this class has no method for.
        complaints: what the browser has complained about since the last `show`.
    """

    def __init__(self, program: str) -> None:
        self._playwright = sync_playwright().start()
        # Root cannot use Chromium's sandbox, and all that is opened here is a page of this project.
        words = ["--no-sandbox"] if os.geteuid() == 0 else []
        self._browser = self._playwright.chromium.launch(executable_path=program, args=words)
        self._requested: list[str] = []
        self.complaints: list[str] = []
        self.page = self.new_page()
        self.tools = self.page.context.new_cdp_session(self.page)

    def new_page(self) -> Page:
        """A page with separate cookies, watched as the first."""
        page = self._browser.new_page()
        page.set_default_timeout(SECONDS * 1000)
        page.on("request", self._note_request)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return page

    def new_context(self, **options: Any) -> BrowserContext:
        """A context with separate cookies; `options` as Playwright's."""
        return self._browser.new_context(**options)

    def _note_request(self, request: Request) -> None:
        self._requested.append(request.url)

    def close(self) -> None:
        """End it, and everything it started."""
        self._browser.close()
        self._playwright.stop()

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the browser's tools for developers; its answer."""
        return self.tools.send(method, parameters)

    def show(
        self, place: Path | str, width: int, scheme: str = "light", media: str = "screen"
    ) -> None:
        """Open a file or URL in a window of this width, in a light or dark scheme."""
        self.page.goto("about:blank")  # the page before may still ask for something
        self._requested.clear()
        self.complaints.clear()
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.goto(place if isinstance(place, str) else place.as_uri())
        # Chromium forgets the medium when it loads a page in another process.
        self.page.emulate_media(media=media, color_scheme=scheme)

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        return self.page.evaluate(expression)

    def requests_and_complaints(self) -> tuple[list[str], list[str]]:
        """The URLs that the page has requested, without those of `data:`, and what the browser
        complained about, until a moment from now.
        """
        self.page.wait_for_timeout(200)
        requested = [url for url in self._requested if not url.startswith("data:")]
        return requested, list(self.complaints)

    def picture(self, file: Path) -> None:
        """The whole page as a PNG."""
        self.page.screenshot(path=file, full_page=True)

    def pdf(self) -> bytes:
        """The page as it is printed."""
        return self.page.pdf(print_background=True)
