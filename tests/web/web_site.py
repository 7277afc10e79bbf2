"""The site in this process, and visitors who see it as browsers do."""

import asyncio
from pathlib import Path
from typing import Any

import httpx

from uwf_core.client import Client
from uwf_web.app import make_app
from uwf_web.keys import new_token, read_keys
from uwf_web.settings import WebSettings


class Visitor:
    """A browser: it keeps cookies, follows no redirects, and sends the origin with its forms."""

    def __init__(self, app: Any, origin: str) -> None:
        self.app = app
        self.origin = origin
        self.cookies = httpx.Cookies()

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.request("GET", path, headers)

    def post(self, path: str, fields: dict[str, str], **headers: str) -> httpx.Response:
        return self.request("POST", path, {"origin": self.origin, **headers}, data=fields)

    def request(
        self, method: str, path: str, headers: dict[str, str], **body: Any
    ) -> httpx.Response:
        """Send a request; underscores of the headers' names are dashes."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(
                transport=transport, base_url=self.origin, cookies=self.cookies
            ) as client:
                answer = await client.request(method, path, headers=given, **body)
                self.cookies = client.cookies
                return answer

        return asyncio.run(send())


class WebSite:
    """The pages of a home, a stranger, and a visitor who is logged in; the folder is the server's.

    Args:
        home: of uwf.
        folder: of the server.
        options: of `WebSettings`.
    """

    def __init__(self, home: Path, folder: Path, **options: Any) -> None:
        self.settings = WebSettings(home, folder, **options)
        self.origin = f"http://{read_keys(home).host}:{self.settings.port}"
        self.app = make_app(self.settings, lambda: Client.open(home=home, cwd=folder))
        self.stranger = Visitor(self.app, self.origin)
        self.visitor = Visitor(self.app, self.origin)
        answer = self.visitor.get(f"/threads?token={new_token(home)}")
        assert answer.status_code == 303, answer.text
