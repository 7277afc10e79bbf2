"""Commands as agents: any program in any language that speaks the command protocol.

    <command> <args…> --thread ID --role R --prompt TEXT --mode run|fork|ask [--session ID]
              [--fork ID]

in the step's folder, with `UWF_REQUEST` (a JSON file with everything, see wire.py) and
`UWF_EVENTS` (a file to which it may append JSON lines `{turn}`, `{session}`, `{usage}`). The last
line on stdout is the reply; see `uwf_core.agents.wire.CommandReply`.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.agents.answer import Ended, agent_reply, check_error, reply_of
from uwf_core.agents.call_files import call_files
from uwf_core.agents.cleaning import clean_text
from uwf_core.agents.events import EventFollower
from uwf_core.agents.wire import CommandReply, Mode, request_document
from uwf_core.api.agent import (
    AgentContext,
    AgentReply,
    AgentRequest,
    AskRequest,
    NoSink,
    Turn,
    TurnSink,
    Usage,
)
from uwf_core.errors import Crashed

if TYPE_CHECKING:
    from uwf_core.agents.session_totals import SessionTotals

EVENTS_PER_REPLY = 8
"""The limit of the events file, as a multiple of the reply limit: turns have half of it."""
PROMPT_BYTES = 32 * 1024
"""The system limits an argument (128 KB on Linux); the whole text is in the file."""
_POINTER = "\n\n[truncated; the whole text is in the file that UWF_REQUEST names]"


class CommandAgent:
    """A command of the configuration, or a command line given as the agent.

    Args:
        argv: the program and its arguments, before those of the protocol.
        capabilities: as declared; uwf uses no others.
        context: its name for messages, and the folder for the files of its calls.
        options: the `options` of the request file.
    """

    def __init__(
        self,
        argv: tuple[str, ...],
        capabilities: frozenset[str],
        context: AgentContext,
        options: Mapping[str, Any],
    ) -> None:
        self._argv = argv
        self._continues = "continue" in capabilities
        self._context = context
        self._options = options

    def run(self, request: AgentRequest, sink: TurnSink) -> AgentReply:
        """One call with `--mode run`; `--session` only where `continue` is declared."""
        session = request.session if self._continues else None
        reply, ended = self._call(
            "run", request.with_(session=session), _instruction(request), sink
        )
        return agent_reply(reply, ended)

    def fork(self, session: str, request: AgentRequest, at: str | None = None) -> str | None:
        """One call with `--mode fork --session`; the new session's id, or None where the reply
        says that a copy is made with the next prompt (`--fork` instead of `--session`).

        Raises:
            Crashed: it returns neither.
        """
        request = request.with_(session=session)
        reply, ended = self._call("fork", request, _instruction(request), NoSink(), at)
        if not reply.session_id and reply.continuation == "forked" and at is None:
            return None
        if not reply.session_id:
            raise Crashed(f"{ended.who} forked a session but returned no sessionId")
        _Totals(self._context.state_dir, session).copy(reply.session_id)
        return reply.session_id

    def ask(self, request: AskRequest, sink: TurnSink) -> AgentReply:
        """One call with `--mode ask`, with `--session` if there is a session."""
        reply, ended = self._call("ask", request, request.question, sink)
        return agent_reply(reply, ended)

    def close(self) -> None:
        """Do nothing: no resources stay open between calls."""

    def _call(
        self,
        mode: Mode,
        request: AgentRequest | AskRequest,
        prompt: str,
        sink: TurnSink,
        at: str | None = None,
    ) -> tuple[CommandReply, Ended]:
        """Run the program once.

        Raises:
            AgentFailure, NeedsAnswer: it failed, or reports one of them.
        """
        document = request_document(mode, request, self._options, at)
        argv = (*self._argv, *_arguments(mode, request, prompt))
        with call_files(self._context.state_dir, document) as files:
            limit, cancel = request.limits.reply_bytes, request.cancel
            totals = _Totals(self._context.state_dir, request.session)
            with (
                # Opened before the program starts, which may delete the folder at once.
                files.events.open("rb") as stream,
                request.start_program(argv, env=files.environment()) as child,
                EventFollower(
                    *(stream, sink, child.touch, limit, limit * EVENTS_PER_REPLY),
                    *(cancel, totals.used),
                ) as events,
            ):
                result = child.wait()
        if events.error is not None:
            raise events.error
        ended = Ended(
            who=f"the command {self._context.name!r}",
            result=result,
            asked=request.session,
            proves=self._continues,
            forks=isinstance(request, AgentRequest) and request.forks,
            session=events.session,
            usage=events.usage,
        )
        try:
            reply = totals.counted(reply_of(ended))
            for turn in reply.turns:
                events.turn(turn)
            if reply.error is not None:  # no reply will carry these, so pass them on as events
                _report(reply, sink)
            check_error(reply, ended)
        finally:
            totals.keep(events.session or request.session)
            _note_bad_lines(events, sink)
        return reply, ended


class _Totals:
    """The usage of a call, perhaps reported as the session's total; loads the code only then."""

    def __init__(self, state_dir: str, asked: str | None) -> None:
        self._state_dir, self._asked = state_dir, asked
        self._session: str | None = None
        self._opened: SessionTotals | None = None

    def used(self, total: Usage) -> Usage:
        if self._opened is None:
            from uwf_core.agents.session_totals import SessionTotals

            self._opened = SessionTotals(self._state_dir, self._asked)
        return self._opened.used(total)

    def counted(self, reply: CommandReply) -> CommandReply:
        """The reply with the usage of the call alone."""
        self._session = reply.session_id
        if reply.usage is None or not reply.usage_is_total:
            return reply
        return replace(reply, usage=self.used(reply.usage), usage_is_total=False)

    def copy(self, session: str) -> None:
        """Let a copy of a session begin with its total, where it has one."""
        if Path(self._state_dir, "totals").exists():
            from uwf_core.agents.session_totals import SessionTotals

            SessionTotals(self._state_dir, self._asked).keep(session)

    def keep(self, session: str | None) -> None:
        """Keep the total for the next call of the session that the reply names, else of this."""
        session = self._session or session
        if self._opened is not None and session is not None:
            self._opened.keep(session)


def _report(reply: CommandReply, sink: TurnSink) -> None:
    """Keep the session and usage that a reply has besides its error."""
    if reply.session_id:
        sink.session(reply.session_id)
    if reply.usage is not None:
        sink.usage(reply.usage)


def cut_prompt(text: str) -> str:
    """`text` as an argument: without NUL, at most `PROMPT_BYTES` in UTF-8, cut between characters.

    A truncated text ends with a pointer to the request file.
    """
    text = clean_text(text)
    data = text.encode()
    if len(data) <= PROMPT_BYTES:
        return text
    kept = data[: PROMPT_BYTES - len(_POINTER.encode())].decode(errors="ignore")
    return kept + _POINTER


def _arguments(mode: Mode, request: AgentRequest | AskRequest, prompt: str) -> tuple[str, ...]:
    forks = isinstance(request, AgentRequest) and request.forks
    name = "--fork" if forks else "--session"
    session = () if request.session is None else (name, request.session)
    role = ("--thread", request.thread, "--role", request.role)
    return (*role, "--prompt", cut_prompt(prompt), "--mode", mode, *session)


def _instruction(request: AgentRequest) -> str:
    """The prompt of this call alone: a correction is its whole text, since it continues the
    session, or repeats everything.
    """
    if request.purpose == "correction":
        return request.prompt
    return request.parts.instruction or request.prompt


def _note_bad_lines(events: EventFollower, sink: TurnSink) -> None:
    """Add a note to the turns: the author of a command must see the rejected lines."""
    notes = []
    if events.bad_lines:
        text = f"{events.bad_lines} lines of UWF_EVENTS are invalid; the first: "
        notes.append(text + events.first_problem)
    if events.unread:
        notes.append(f"too much was reported: {events.unread}")
    if notes:
        sink.turn(Turn(index=events.next_index, role="note", text="\n".join(notes)))
