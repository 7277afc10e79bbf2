"""The site of a project in this process, and visitors who see it as browsers do."""

import asyncio
import re
import time
from pathlib import Path
from typing import Any

import httpx

from uwf_core.client import Client
from uwf_core.testing.project import Project
from uwf_web.app import make_app
from uwf_web.keys import new_token, read_keys
from uwf_web.settings import WebSettings

LETTER = """
version: 1
name: letter
description: A letter that a person approves.
roles:
  writer:
    description: Writes
    goal: Write
    frontmatter:
      properties:
        $status: {const: written}
        text: {type: string}
      required: [$status, text]
  reader:
    description: Approves
    goal: Approve
    human: true
    frontmatter:
      oneOf:
        - properties: {$status: {const: approved}}
          required: [$status]
        - properties:
            $status: {const: changes}
            comments: {type: string, minLength: 1}
            words: {type: integer}
          required: [$status, comments]
graph:
  $START:
    new: {role: writer, prompt: Write.}
    resume: {role: writer, prompt: Write again.}
  writer:
    written: {role: reader, prompt: "May this go out? {{{text}}}"}
  reader:
    approved: {role: $END, prompt: Done.}
    changes: {role: writer, prompt: "Change this: {{{comments}}}"}
"""
TEXT = "Dear Ada, <b>hello</b>"
SCRIPT = {"role": "writer", "output": {"$status": "written", "text": TEXT}}


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

    def send(self, page: str, action: str, **fields: str) -> httpx.Response:
        """Fill in a form of a page, the first with this action, and send it. A dot of a field's
        name is written as two underscores.
        """
        form = next(each for each in self.forms(page) if each["action"].endswith(action))
        given = {name.replace("__", "."): value for name, value in fields.items()}
        return self.post(form["action"], {**form["fields"], **given})

    def forms(self, page: str) -> list[dict[str, Any]]:
        """The forms of a page: where they go, and their hidden fields."""
        found = re.findall(
            r'<form method="post" action="([^"]+)"[^>]*>(.*?)</form>', self.get(page).text, re.S
        )
        hidden = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')
        return [{"action": action, "fields": dict(hidden.findall(body))} for action, body in found]

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
    """The pages of a project, a stranger, and a visitor who is logged in.

    Args:
        root: an empty folder.
        options: of `WebSettings`.
    """

    def __init__(self, root: Path, **options: Any) -> None:
        self.project = Project(root)
        self.project.workflow("letter", LETTER)
        self.project.script([SCRIPT], repeat=True, by_role=True)
        home = self.project.home
        self.settings = WebSettings(home, self.project.folder, **options)
        self.origin = f"http://{read_keys(home).host}:{self.settings.port}"
        self.app = make_app(self.settings, self.open)
        self.stranger = Visitor(self.app, self.origin)
        self.visitor = Visitor(self.app, self.origin)
        base = self.settings.base
        answer = self.visitor.get(f"{base}/threads?token={new_token(home)}")
        assert answer.status_code == 303, answer.text

    def open(self) -> Client:
        """A client as the server opens it."""
        return Client.open(home=self.project.home, cwd=self.project.folder, env=self.project.env)

    def waiting(self) -> str:
        """A thread that waits for the reader's answer."""
        with self.project.client() as uwf:
            thread = uwf.start("letter", "Write to Ada.\n\nA second paragraph.")["thread"]
            uwf.exec(thread, until_done=True)
            return str(thread)

    def until(self, thread: str, status: str, steps: int, seconds: float = 30) -> None:
        """Wait until a thread that runs in the background is there."""
        end = time.monotonic() + seconds
        with self.project.client() as uwf:
            while True:
                shown = uwf.show(thread)
                if (shown["status"], shown["steps"]) == (status, steps):
                    return
                assert time.monotonic() < end, shown
                time.sleep(0.1)
