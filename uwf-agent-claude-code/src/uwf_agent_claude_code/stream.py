"""Follow the output of one run: report the turns, keep the data that decides its outcome, and stop
early a run that would only wait or that uses the wrong session.
"""

import time
from collections.abc import Collection

from uwf_agent_claude_code.lines import (
    SYNTHETIC,
    Blocked,
    Init,
    Limited,
    Line,
    Message,
    Result,
    Results,
    Retry,
    Tokens,
    read_line,
)
from uwf_agent_claude_code.outcome import RunEvents
from uwf_agent_claude_code.sessions import Plan, lost
from uwf_agent_claude_code.turns import Turns
from uwf_core.api import BadRequest, RateLimited, TurnSink

_LONGEST_WAIT_MS = 60_000
_ALWAYS_OFFERED = frozenset(("StructuredOutput",))
_OTHER_NAMES = {"Task": "Agent"}


class Stream:
    """The output of a run so far.

    Args:
        plan: the session that it must use.
        sink: gets the turns.
        tools: the only tools that it may offer; None does not restrict.
    """

    def __init__(self, plan: Plan, sink: TurnSink, tools: Collection[str] | None) -> None:
        self._plan = plan
        self._tools = tools
        self.turns = Turns(sink)
        self.init: Init | None = None
        self.result: Result | None = None
        """The first success that has a reply; until there is one, the last result if no line
        followed it.
        """
        self.counted: Result | None = None
        """The last result that counts what was used."""
        self.later: Result | None = None
        """A result that is not a success, after `result` was one."""
        self.model: str | None = None
        self.messages: dict[str, Tokens] = {}
        self._own_messages: dict[str, None] = {}
        self._hook: str | None = None
        self._injected = ""
        self._error: str | None = None
        self._until_ms: int | None = None

    def feed(self, data: bytes) -> None:
        """Read a line.

        Raises:
            SessionLost: the program uses another session than the requested one.
            RateLimited: it would wait for minutes before it retries.
            BadRequest: it offers the model tools that the role does not allow.
        """
        line = read_line(data)
        if line is None:
            return
        if self.is_received:
            self._take_later(line)
            return
        # Until a reply is received it may continue by itself, and what it says then counts.
        self.result = line if isinstance(line, Result) else None
        self.counted = self.result
        self._take(line)

    @property
    def is_received(self) -> bool:
        """Whether a result line has a complete reply: nothing that comes later changes it."""
        result = self.result
        return result is not None and result.is_success and result.is_reply

    def events(self) -> RunEvents:
        """The events besides the result."""
        resumed = self._plan.resumes is not None
        return RunEvents(self._plan.session, resumed, self._error, self._until_ms, self._hook)

    @property
    def turns_seen(self) -> int:
        """The answers of the model itself, without those of agents that it started."""
        return len(self._own_messages)

    def _take(self, line: Line) -> None:
        match line:
            case Init():
                self._begin(line)
            case Message():
                if line.model == SYNTHETIC or line.error:
                    self._error = line.error
                else:
                    self._count(line)
                self.turns.message(line)
            case Results():
                self._injected = "" if line.results else line.text
                if self._hook is not None and self._injected:
                    self._hook = self._injected
                self.turns.results(line)
            case Blocked():
                self._hook = self._injected if line.text is None else line.text
            case Retry():
                self.turns.retry(line)
                self._check_wait(line)
            case Limited():
                self._until_ms = line.until_ms
            case Result():
                pass

    def _take_later(self, line: Line) -> None:
        match line:
            case Message() if line.model != SYNTHETIC and not line.error:
                self._count(line)
                self.turns.message(line)
            case Message():
                self.turns.message(line)
            case Results():
                self.turns.results(line)
            case Result():
                self.counted = line if line.counts_something else self.counted
                self.later = self.later if line.is_success else line
            case _:
                pass

    def _count(self, message: Message) -> None:
        self.messages[message.id] = message.tokens
        if not message.is_inner:
            self.model = message.model
            self._own_messages[message.id] = None

    def _begin(self, init: Init) -> None:
        self.init, self.model = init, init.model
        if init.session != self._plan.session:
            raise lost(self._plan.session, f"Claude Code began {init.session} instead")
        if self._tools is None:
            return
        wanted = {_OTHER_NAMES.get(name, name) for name in self._tools} | _ALWAYS_OFFERED
        offered = {_OTHER_NAMES.get(name, name) for name in init.tools}
        if offered - wanted:
            names = ", ".join(sorted(offered - wanted))
            raise BadRequest(
                f"the role is narrowed to {', '.join(self._tools) or 'no tools'}, and Claude Code "
                f"offers {names} all the same",
                session=self._plan.session,
                hint="name them in the option `disallowedTools`",
            )

    def _check_wait(self, retry: Retry) -> None:
        if retry.error == "rate_limit" and retry.delay_ms > _LONGEST_WAIT_MS:
            raise RateLimited(
                f"the service asks to wait {retry.delay_ms // 1000} s",
                session=self._plan.session,
                until_ms=int(time.time() * 1000) + retry.delay_ms,
            )
