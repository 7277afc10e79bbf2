"""Leave for what Hermes asks: by policy, or by a person whose answer comes with a later call."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from uwf_agent_acp.protocol.client import PermissionRequest
from uwf_agent_hermes.options import Permission
from uwf_core.api import NeedsAnswer, permission_form

FORM: Mapping[str, Any] = permission_form("allow", "deny")
"""What a person answers: `uwf thread resume T --answer decision=allow`."""


class Questions:
    """What a person was asked, session by session: an answer holds for that very thing alone.

    Args:
        folder: below the agent's own; made when something is asked.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, session: str, request: PermissionRequest) -> None:
        """Remember what is asked."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._file(session), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(fingerprint(request))

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
        permission: see `HermesOptions`.
        decided: what a person has decided, by fingerprint.
        on_question: called when a person must be asked: to end the prompt.
    """

    def __init__(
        self,
        permission: Permission,
        decided: Mapping[str, str],
        on_question: Callable[[PermissionRequest], None],
    ) -> None:
        self._permission = permission
        self._decided = decided
        self._on_question = on_question
        self.denials: list[str] = []
        self.question: NeedsAnswer | None = None

    def decide(self, request: PermissionRequest) -> str | None:
        """The id of an option; None where the prompt is being ended."""
        word = self._decided.get(fingerprint(request), self._permission)
        if word == "ask":
            if self.question is None:
                self.question = NeedsAnswer(f"Hermes asks permission: {described(request)}", FORM)
                self._on_question(request)
            return None
        if word == "allow":
            chosen = request.option("allow_once", "allow_always")
            if chosen is not None:
                return chosen
        self.denials.append(described(request))
        return request.option("reject_once", "reject_always")


def described(request: PermissionRequest) -> str:
    """What is asked, for a person."""
    tool = request.tool
    return tool.title or tool.kind or "something that it does not name"


def fingerprint(request: PermissionRequest) -> str:
    """Tells one thing that is asked from all others: its kind, its title, all its arguments."""
    tool = request.tool
    parts = json.dumps([tool.kind, tool.title, tool.arguments])
    return hashlib.sha256(parts.encode()).hexdigest()
