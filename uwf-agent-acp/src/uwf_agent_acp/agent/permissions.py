"""Permission for what an agent asks: by policy, or by a person who answers in a later call."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from uwf_agent_acp.agent.options import Permission
from uwf_agent_acp.protocol.client import PermissionRequest
from uwf_core.api import NeedsAnswer, permission_form

_MOST_CHARACTERS = 4000


class Questions:
    """What a person was asked, session by session: an answer holds for that very thing alone.

    Args:
        folder: below the agent's own; made when something is asked.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, session: str, asked: str) -> None:
        """Remember what is asked, by its fingerprint."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._file(session), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(asked)

    def asked(self, session: str) -> str | None:
        """The fingerprint of what was asked last in this session."""
        try:
            return self._file(session).read_text(encoding="ascii")
        except FileNotFoundError:
            return None

    def forget(self, session: str) -> None:
        """The question is settled."""
        self._file(session).unlink(missing_ok=True)

    def _file(self, session: str) -> Path:
        return self._folder / hashlib.sha256(session.encode()).hexdigest()[:32]


class Policy:
    """Decides for one call.

    Args:
        who: the agent, for messages.
        permission: the answer to every request; `ask`: a person's.
        decided: what a person has answered, by fingerprint.
        on_question: called with session and fingerprint when a person must be asked: to end the
            prompt.
    """

    def __init__(
        self,
        who: str,
        permission: Permission,
        decided: Mapping[str, Mapping[str, Any]],
        on_question: Callable[[str, str], None],
    ) -> None:
        self._who = who
        self._permission = permission
        self._decided = decided
        self._on_question = on_question
        self.denials: list[str] = []
        self.question: NeedsAnswer | None = None

    def decide(self, request: PermissionRequest) -> str | None:
        """The id of an option; None where the prompt is being ended."""
        word = self._decided.get(fingerprint(request), {}).get("decision", self._permission)
        if word not in ("allow", "deny"):
            message = f"{self._who} asks permission: {described(request)}"
            form = permission_form("allow", "deny", about=details(request))
            self._ask(request.session, fingerprint(request), message, form)
            return None
        if word == "allow":
            chosen = request.option("allow_once", "allow_always")
            if chosen is not None:
                return chosen
        self.denials.append(described(request))
        return request.option("reject_once", "reject_always")

    def elicit(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Answer the agent's own question (`elicitation/create`): with what a person said in this
        call; else the person is asked, or with `deny` it is declined.
        """
        message, schema = params.get("message"), params.get("requestedSchema")
        if params.get("mode", "form") != "form" or not isinstance(schema, dict):
            return {"action": "decline"}
        asked = _digest(["elicitation", message, schema])
        if asked in self._decided:
            return {"action": "accept", "content": dict(self._decided[asked])}
        words = message if isinstance(message, str) and message.strip() else "a question"
        if self._permission == "deny":
            self.denials.append(words)
            return {"action": "decline"}
        self._ask(str(params.get("sessionId", "")), asked, f"{self._who} asks: {words}", schema)
        return {"action": "cancel"}

    def _ask(self, session: str, asked: str, message: str, form: Mapping[str, Any]) -> None:
        if self.question is None:
            self.question = NeedsAnswer(message, form)
            self._on_question(session, asked)


def described(request: PermissionRequest) -> str:
    """What is asked, for a person."""
    tool = request.tool
    return tool.title or tool.kind or "something that it does not name"


def details(request: PermissionRequest) -> str:
    """The kind and arguments of the tool, which its title need not show; the ends of long ones."""
    arguments = request.tool.arguments or ""
    if len(arguments) > _MOST_CHARACTERS:
        half = _MOST_CHARACTERS // 2
        arguments = f"{arguments[:half]} […] {arguments[-half:]}"
    return ": ".join(filter(None, (request.tool.kind, arguments)))


def fingerprint(request: PermissionRequest) -> str:
    """Tells one thing that is asked from all others: its kind, its title, all its arguments."""
    tool = request.tool
    return _digest([tool.kind, tool.title, tool.arguments])


def _digest(parts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
