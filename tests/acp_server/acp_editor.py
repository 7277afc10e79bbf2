"""A scripted editor: it speaks the protocol by hand, and knows nothing of the server's code.

`Desk.editor` serves it in this process, over the same lines; `Desk.program` starts `uwf acp`.
"""

import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from uwf_agent_acp.server.service import AcpService, Setting
from uwf_core.client import Client
from uwf_core.testing.project import Project

SECONDS = 60.0
LETTER = """
version: 1
name: letter
description: A letter that a person approves.
roles:
  writer:
    description: Writes the letter
    goal: Write
    frontmatter:
      properties:
        $status: {const: written}
        text: {type: string}
      required: [$status, text]
  reader:
    description: Approves the letter
    goal: Approve
    human: true
    frontmatter:
      oneOf:
        - properties: {$status: {const: approved}}
          required: [$status]
        - properties:
            $status: {const: changes}
            comments: {type: string, minLength: 3, description: What must change.}
            words: {type: integer}
            places: {type: array, items: {type: object, properties: {line: {type: integer}}}}
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
NOTE = """
version: 1
name: note
description: A note that one agent writes.
roles:
  writer:
    goal: Write a note
    frontmatter:
      properties: {$status: {const: written}, text: {type: string}}
      required: [$status]
graph:
  $START:
    new: {role: writer, prompt: Write.}
    resume: {role: writer, prompt: Write again.}
  writer:
    written: {role: $END, prompt: Done.}
"""
FAN = """
version: 1
name: fan
roles:
  planner:
    goal: Plan
    frontmatter:
      properties:
        $status: {const: planned}
        tasks: {type: array, minItems: 1, maxItems: 2, items: {type: string}}
      required: [$status, tasks]
  worker:
    goal: Work
    tools: []
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START: {new: {role: planner, prompt: go}, resume: {role: planner, prompt: again}}
  planner:
    planned:
      forEach: tasks
      role: worker
      prompt: "{{.}}"
      then:
        done: {role: $END, prompt: d}
        $mixed: {role: planner, prompt: m}
"""
TURNS = [
    {"text": "Reading the task.", "reasoning": "What is it?"},
    {
        "text": "Now the letter.",
        "toolCalls": [{"id": "a", "name": "bash", "arguments": '{"c": 1}'}],
    },
]
WRITTEN = {
    "role": "writer",
    "output": {"$status": "written", "text": "Dear Ada"},
    "turns": TURNS,
    "usage": {"inputTokens": 50, "outputTokens": 20, "cacheReadTokens": 7},
}


class Rejected(Exception):
    """An error response."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(f"{error['message']} ({error['code']})")
        self.code, self.message, self.data = error["code"], error["message"], error.get("data")


class Editor:
    """What an editor does. `answers` are what it answers to requests, by method; one that is a
    function gets the params. Any other request is answered with "method not found".
    """

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._received: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._number = 0
        self.answers: dict[str, Any] = {}
        self.asked: list[dict[str, Any]] = []
        self.updates: list[dict[str, Any]] = []
        self.results: dict[Any, dict[str, Any]] = {}
        self.on_update: Callable[[dict[str, Any]], None] = lambda _: None

    def receive(self, line: bytes) -> None:
        """A line of uwf; each is one message."""
        assert line.endswith(b"\n") and line.count(b"\n") == 1
        self._received.put(json.loads(line))

    def gone(self) -> None:
        """uwf has closed its end."""
        self._received.put(None)

    def raw(self, line: bytes) -> None:
        """Send a line as it is."""
        self._send(line + b"\n")

    def send(self, method: str, id_: Any = None, **params: Any) -> Any:
        """Send a request (its id is returned), or with id False a notification."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if id_ is not False:
            self._number += 1
            message["id"] = id_ = id_ or self._number
        self.raw(json.dumps(message).encode())
        return id_

    def result(self, id_: Any) -> dict[str, Any]:
        """Wait for the answer to a request."""
        while id_ not in self.results:
            self.step()
        message = self.results.pop(id_)
        if "error" in message:
            raise Rejected(message["error"])
        return message["result"]

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A request, and its answer."""
        return self.result(self.send(method, **params))

    def step(self) -> None:
        """Handle the next message."""
        try:
            message = self._received.get(timeout=SECONDS)
        except Empty:
            raise AssertionError("uwf says nothing") from None
        assert message is not None, "uwf has ended"
        assert message["jsonrpc"] == "2.0"
        if "method" not in message:
            self.results[message["id"]] = message
        elif "id" in message:
            self.asked.append(message)
            self._answer(message)
        else:
            assert message["method"] == "session/update"
            self.updates.append(message["params"]["update"])
            self.on_update(message["params"]["update"])

    def _answer(self, message: dict[str, Any]) -> None:
        answer = self.answers.get(message["method"])
        if callable(answer):
            answer = answer(message["params"])
        if answer is None:
            text = {"code": -32601, "message": "Method not found"}
            self.raw(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": text}).encode())
        elif answer is not SILENCE:
            self.raw(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}).encode())

    # -- what tests do -----------------------------------------------------------------------------

    def initialize(self, **capabilities: Any) -> dict[str, Any]:
        return self.call("initialize", protocolVersion=1, clientCapabilities=capabilities)

    def new(self, cwd: Path, mode: str | None = None) -> str:
        """A session, in a mode."""
        session = str(self.call("session/new", cwd=str(cwd), mcpServers=[])["sessionId"])
        if mode is not None:
            self.call("session/set_mode", sessionId=session, modeId=mode)
        return session

    def start_prompt(self, session: str, text: str) -> Any:
        return self.send(
            "session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}]
        )

    def prompt(self, session: str, text: str) -> dict[str, Any]:
        """Say something, and wait for the end of the turn; forgets earlier updates."""
        self.updates.clear()
        return self.result(self.start_prompt(session, text))

    def load(self, session: str, cwd: Path, method: str = "session/load") -> dict[str, Any]:
        self.updates.clear()
        return self.call(method, sessionId=session, cwd=str(cwd), mcpServers=[])

    def said(self, name: str = "agent_message_chunk") -> str:
        """All messages since the prompt."""
        chunks = (each for each in self.updates if each["sessionUpdate"] == name)
        return "".join(each["content"]["text"] for each in chunks)

    def plans(self) -> list[list[str]]:
        """The plans since the prompt, an entry as `writer completed`."""
        return [
            [f"{entry['content'].partition(':')[0]} {entry['status']}" for entry in each["entries"]]
            for each in self.updates
            if each["sessionUpdate"] == "plan"
        ]

    def titles(self) -> list[str]:
        """The last title and status of each tool call."""
        calls: dict[str, str] = {}
        for each in self.updates:
            if each["sessionUpdate"].startswith("tool_call") and "title" in each:
                calls[each["toolCallId"]] = f"{each['title']} {each['status']}"
        return list(calls.values())


SILENCE = object()
"""An answer that never comes."""


class QueueChannel:
    """The lines of an editor in this process."""

    def __init__(self, lines: "SimpleQueue[bytes | None]", editor: Editor) -> None:
        self._lines = lines
        self.write = editor.receive

    def lines(self) -> Iterator[bytes]:
        while (line := self._lines.get()) is not None:
            yield line[:-1]


class Program(Editor):
    """An editor with a real `uwf acp`."""

    def __init__(self, project: Project, *options: str, cwd: Path | None = None) -> None:
        self.errors = project.folder.parent / "stderr.txt"
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                project.command("acp", *options), cwd=cwd or project.folder, env=project.env,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip
        super().__init__(self._write)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.receive(line)
        self.gone()

    def leave(self) -> int:
        """Close the streams, and wait for the exit code."""
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.process.wait(SECONDS)
        self._reader.join(SECONDS)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


class Desk:
    """A project with the workflows `letter` and `note`, and its editors."""

    def __init__(self, root: Path) -> None:
        self.project = Project(root)
        self.folder = self.project.folder
        self.project.workflow("letter", LETTER)
        self.project.workflow("note", NOTE)
        self.play(WRITTEN)
        self.notes: list[str] = []
        self._services: list[AcpService] = []
        self._lines: list[SimpleQueue[bytes | None]] = []
        self._programs: list[Program] = []

    def play(self, *steps: Mapping[str, Any]) -> None:
        """Let the agents play this; the last step of a role repeats."""
        self.project.script(list(steps), repeat=True, by_role=True)

    def editor(
        self, workflow: str | None = None, env: Mapping[str, str] | None = None, **can: Any
    ) -> Editor:
        """An editor that is served in this process, and has called `initialize`."""

        def open_client(cwd: str, on_event: Callable[[object], None]) -> Client:
            return Client.open(
                env={**self.project.env, **(env or {})}, cwd=cwd, via="acp", on_event=on_event,
                on_notice=self.notes.append,
            )  # fmt: skip

        found = self.connected(Setting("1.0", workflow, open_client, self.notes.append))
        found.initialize(**can)
        return found

    def connected(self, setting: Setting) -> Editor:
        """An editor that is served in this process, and has called nothing."""
        lines: SimpleQueue[bytes | None] = SimpleQueue()
        found = Editor(lines.put)
        service = AcpService(QueueChannel(lines, found), setting)
        threading.Thread(target=service.serve, daemon=True).start()
        self._services.append(service)
        self._lines.append(lines)
        return found

    def program(self, *options: str, **more: Any) -> Program:
        """An editor with a real `uwf acp`, which has called `initialize`."""
        found = Program(self.project, *options, **more)
        self._programs.append(found)
        found.initialize()
        return found

    def show(self, thread: str) -> Any:
        """The thread as `uwf thread show` prints it."""
        with self.project.client() as client:
            return client.show(thread)

    def close(self) -> None:
        for lines, service in zip(self._lines, self._services, strict=True):
            lines.put(None)
            service.close("the test is over", 30)
        for program in self._programs:
            if program.process.poll() is None:
                program.process.kill()
            program.leave()
