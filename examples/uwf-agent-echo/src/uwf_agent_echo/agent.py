"""The agent: a program, and a file for each session."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uwf_core.api import (
    AgentContext,
    AgentReply,
    AgentRequest,
    AskRequest,
    Call,
    EmptyReply,
    SessionLost,
    Turn,
    TurnSink,
    Usage,
    failure_of,
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a user can set.

    `complete` puts frontmatter in front of an answer that has none: the first status that the
    role's schema allows. A real adapter never does that: it returns the agent's text byte for byte,
    and the prompt contains the format.
    """

    program: str = "cat"
    arguments: tuple[str, ...] = ()
    complete: bool = True


class EchoAgent:
    """Created for each step, called, and closed: lasting state is in files."""

    def __init__(self, options: Options, context: AgentContext) -> None:
        self._options = options
        self._sessions = Path(context.state_dir, "sessions")

    def run(self, request: AgentRequest, sink: TurnSink) -> AgentReply:
        """Say the prompt, and keep what was said in the session's file."""
        known = self._known(request.session)
        session = request.session or str(uuid.uuid4())
        sink.session(session)
        text, usage = self._said(request, request.prompt)
        sink.turn(Turn(index=0, role="assistant", text=text))
        self._keep(session, [*known, request.prompt, text])
        return AgentReply(
            text=_completed(text, request) if self._options.complete else text,
            session=session,
            continuation="continued" if request.session else "new",
            # What shows that it is the old session: how much of it was there.
            proof=f"{len(known)} texts were there" if request.session else None,
            usage=usage,
            mark=str(len(known) + 2),
        )

    def fork(self, session: str, request: AgentRequest, at: str | None = None) -> str:
        """A copy of a session under a new name, up to the mark `at`: a number of texts."""
        forked = str(uuid.uuid4())
        known = self._known(session)
        self._keep(forked, known if at is None else known[: int(at)])
        return forked

    def ask(self, request: AskRequest, sink: TurnSink) -> AgentReply:
        """Answer from a session, or from the step's record where there is none."""
        known = self._known(request.session) if request.session else [request.record]
        text, usage = self._said(request, "\n\n".join([*known, request.question]))
        sink.turn(Turn(index=0, role="assistant", text=text))
        session = request.session or str(uuid.uuid4())
        self._keep(session, [*known, request.question, text])
        return AgentReply(
            text=text,
            session=session,
            continuation="continued" if request.session else "new",
            proof=f"{len(known)} texts were there" if request.session else None,
            usage=usage,
        )

    def close(self) -> None:
        """Nothing is held open between calls."""

    def _said(self, call: Call, text: str) -> tuple[str, Usage]:
        """What the program answers to `text`; its whole process tree ends with the call."""
        argv = [self._options.program, *self._options.arguments]
        result = call.run_program(argv, stdin=text.encode())
        failure = failure_of(result, self._options.program, session=call.session)
        if failure is not None:
            raise failure
        said = result.stdout.decode("utf-8", "replace")
        if not said.strip():
            raise EmptyReply(f"{self._options.program} printed nothing", session=call.session)
        return said, Usage(duration_ms=result.duration_ms)

    def _known(self, session: str | None) -> list[str]:
        """All that was said in a session; nothing for a new one.

        Raises:
            SessionLost: it is not there.
        """
        if session is None:
            return []
        try:
            return [str(each) for each in json.loads(self._file(session).read_text("utf-8"))]
        except (OSError, ValueError) as error:
            raise SessionLost(f"there is no session {session!r}", session=session) from error

    def _keep(self, session: str, texts: list[str]) -> None:
        """Write a session's file: for its owner alone, whole or not at all."""
        # The mode counts for the last folder of a path alone, so it takes two steps.
        self._sessions.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._sessions.mkdir(mode=0o700, exist_ok=True)
        file = self._file(session)
        fresh = file.with_suffix(".new")
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(texts), "utf-8")
        fresh.replace(file)

    def _file(self, session: str) -> Path:
        return self._sessions / f"{Path(session).name}.json"


def _completed(text: str, request: AgentRequest) -> str:
    if text.startswith("---"):
        return text
    fields = "".join(f"{name}: {json.dumps(value)}\n" for name, value in _fields(request.schema))
    return f"---\n{fields}---\n{text}"


def _fields(schema: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The required fields of the first variant, texts filled with a word."""
    variant = (schema.get("oneOf") or schema.get("anyOf") or [schema])[0]
    properties = variant.get("properties", {})
    return [
        (name, properties.get(name, {}).get("const", "echo"))
        for name in variant.get("required", ())
    ]
