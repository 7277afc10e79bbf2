"""The agents that have a name, and how each differs from the others: the table of quirks.

Tried with opencode 1.18, claude-agent-acp 0.101, gemini-cli 0.61, codex-acp 0.16, qwen-code 0.24
and goose 1.50 (`nox -s real_agents`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from uwf_agent_acp import plugin
from uwf_agent_acp.agent.acp_agent import AcpAgent
from uwf_agent_acp.agent.failures import SHOWN, failure_of_words
from uwf_agent_acp.agent.options import AcpOptions
from uwf_agent_acp.agent.profile import Launch, Profile
from uwf_agent_acp.agent.usage import UsageForm, summed
from uwf_agent_acp.plugin import Entry
from uwf_agent_acp.protocol.client import PromptEnd, SessionState, TokenCounts, read_counts
from uwf_agent_acp.protocol.updates import Chunk
from uwf_core.api import (
    AgentContext,
    AgentFailure,
    AgentRequest,
    Call,
    SessionLost,
    Unavailable,
    require_command,
)

_CODEX_WARNING = re.compile(r"Model metadata for `[^`]*` not found\. [^\n]*cause issues\.\s*")
_ID_OF_GOOSE = re.compile(r"msg_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FAILURE_OF_GOOSE = re.compile(
    r"Ran into this error\b.*|Unable to continue: .*|I've reached the maximum number of actions .*"
    r"|.*(?:Please|then) resend your message to (?:continue|try again)\.",
    re.DOTALL,
)
_USER_SETTINGS = {"claudeCode": {"options": {"settingSources": ["user"]}}}


class KnownAgent(NamedTuple):
    """An agent, and its quirks.

    Attributes:
        entry: its entry.
        usage: the form of its token counts.
        noise: whole chunks of text that are its program's and not the model's.
        reports_failure: whole chunks of text by which its program ends a prompt that failed, as if
            they were the answer.
        counts_sessions: its ids of sessions are numbers of one home, so that an id of another
            machine names another conversation. The replay must contain the thread's task.
        loads_damaged: what is wrong with the sessions that it loads; they are not continued.
        counted: finds the counts of a turn where the protocol's `usage` has none, in what only
            this agent says: of the end of the turn, and of its chunks.
        untrusted_meta: what keeps the files of a folder from running anything, in the requests that
            open a session; without it, the program does not run in a folder that is not trusted.
            opencode has a switch for its project's settings (OPENCODE_DISABLE_PROJECT_CONFIG), but
            version 1.18 imports the folder's `.opencode/plugin/*` all the same.
    """

    entry: Entry
    usage: UsageForm = "turn"
    noise: Callable[[Chunk], bool] = lambda _chunk: False
    reports_failure: Callable[[Chunk], bool] = lambda _chunk: False
    counts_sessions: bool = False
    loads_damaged: str | None = None
    counted: Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]]], TokenCounts | None] = (
        lambda _end, _chunks: None
    )
    untrusted_meta: Mapping[str, Any] = {}

    def agent(self, options: AcpOptions | None, context: AgentContext) -> "KnownAcpAgent":
        """The factory of the entry point."""
        return KnownAcpAgent(self, options or AcpOptions(), context)

    @property
    def install_hint(self) -> str:
        """What to do where the program is missing."""
        how = f"npm install -g {self.entry.package}; or " if self.entry.package else ""
        return f"{how}set its path: agents -> ALIAS -> options -> command"

    def command(self, options: AcpOptions) -> tuple[str, ...]:
        """Program and arguments. A program that is named without arguments keeps those of the known
        agent.

        Raises:
            BadRequest: the user must name one, and has not.
        """
        argv = self.entry.argv
        program = require_command(options.command or next(iter(argv), None))
        return (program, *(argv[1:] if options.arguments is None else options.arguments))


class KnownAcpAgent(AcpAgent):
    """An agent of the table, or one that the configuration names."""

    def __init__(self, known: KnownAgent, options: AcpOptions, context: AgentContext) -> None:
        super().__init__(context)
        self._known, self._options = known, options

    def profile_of(self, call: Call, *, is_question: bool) -> Profile:
        """See `AcpAgent`.

        Raises:
            BadRequest: no program is named.
            Unavailable: the folder is not trusted, and the agent would obey its files.
        """
        options = call.options if isinstance(call.options, AcpOptions) else self._options
        self._known.command(options)
        if not (call.trusted or self._known.untrusted_meta):
            raise Unavailable(
                f"{self._known.entry.title} may run what settings in {call.cwd} say, and you do "
                "not trust that folder",
                hint="next: uwf config trust",
            )
        task = call.parts.task if isinstance(call, AgentRequest) else ""
        return _KnownProfile(self._known, options, task, is_question=is_question)


class _KnownProfile(Profile):
    def __init__(
        self, known: KnownAgent, options: AcpOptions, task: str, *, is_question: bool
    ) -> None:
        if is_question:
            options = replace(options, permission="deny", mode=known.entry.reading_mode)
        super().__init__(known.entry.name or "acp", known.entry.title, options, known.usage)
        self._known, self._options, self._task = known, options, task

    def launch(self, call: Call, folder: Path) -> Launch:
        return Launch(self._known.command(self._options), self._options.environment)

    def meta(self, call: Call) -> Mapping[str, Any]:
        return {} if call.trusted else self._known.untrusted_meta

    def is_said(self, chunk: Chunk) -> bool:
        return not (self._known.noise(chunk) or self._known.reports_failure(chunk))

    def check_load(self, session: str) -> None:
        if self._known.loads_damaged:
            raise SessionLost(
                f"{self.title} loads sessions damaged: {self._known.loads_damaged}",
                session=session,
            )

    def proof_of_load(self, state: SessionState, replayed: Sequence[Chunk]) -> str:
        if self._known.counts_sessions:
            said = "".join(chunk.text for chunk in replayed if chunk.kind == "user")
            if self._task.strip() not in said:
                raise SessionLost(
                    f"the session {state.id} of {self.title} is not of this thread: it does not "
                    "contain the task",
                    session=state.id,
                )
        return super().proof_of_load(state, replayed)

    def failure_of_own(self, said: Sequence[Chunk], session: str) -> AgentFailure | None:
        words = [chunk.text for chunk in said if self._known.reports_failure(chunk)]
        if not words:
            return None
        shown = words[-1].partition("\n\nPlease re")[0]  # its advice for a person at its prompt
        message = f"{self.title} ended its turn with an error: {shown.strip()[:SHOWN]}"
        return failure_of_words(words[-1], message, session, self.setup_hint)

    def counts(self, end: PromptEnd, metas: Sequence[Mapping[str, Any]]) -> TokenCounts | None:
        return end.usage or self._known.counted(end.meta, metas)

    @property
    def setup_hint(self) -> str | None:
        return (
            f"sign in with the agent's own program; next: uwf agent check {self._known.entry.point}"
        )

    @property
    def install_hint(self) -> str | None:
        return self._known.install_hint


def _warning_of_codex(chunk: Chunk) -> bool:
    """A warning is one whole chunk."""
    return _CODEX_WARNING.fullmatch(chunk.text) is not None


def _notice_of_claude_code(chunk: Chunk) -> bool:
    said = chunk.meta.get("claudeCode")
    return isinstance(said, dict) and said.get("kind") == "informational"


def _failure_of_goose(chunk: Chunk) -> bool:
    """One whole chunk, with an id that goose made and not the model's service."""
    said = chunk.meta.get("goose")
    id_ = said.get("messageId") if isinstance(said, dict) else None
    return (
        isinstance(id_, str)
        and _ID_OF_GOOSE.fullmatch(id_) is not None
        and _FAILURE_OF_GOOSE.fullmatch(chunk.text) is not None
    )


def _counts_of_qwen(
    _end: Mapping[str, Any], chunks: Sequence[Mapping[str, Any]]
) -> TokenCounts | None:
    """An empty chunk ends each request, with its counts."""
    found = (read_counts(meta.get("usage")) for meta in chunks)
    return summed(counts for counts in found if counts is not None)


def _counts_of_gemini(
    end: Mapping[str, Any], _chunks: Sequence[Mapping[str, Any]]
) -> TokenCounts | None:
    quota = end.get("quota")
    counts = quota.get("token_count") if isinstance(quota, dict) else None
    if not isinstance(counts, dict):
        return None
    names = {"inputTokens": "input_tokens", "outputTokens": "output_tokens"}
    return read_counts({ours: counts.get(theirs) for ours, theirs in names.items()})


ANY = KnownAgent(plugin.ANY)
OPENCODE = KnownAgent(plugin.OPENCODE, usage="last")
GEMINI = KnownAgent(
    plugin.GEMINI,
    loads_damaged="it sends each result of a tool twice, which its service rejects",
    counted=_counts_of_gemini,
)
CODEX = KnownAgent(plugin.CODEX, noise=_warning_of_codex)
GOOSE = KnownAgent(
    plugin.GOOSE, usage="last", reports_failure=_failure_of_goose, counts_sessions=True
)
QWEN = KnownAgent(plugin.QWEN, usage="total", counted=_counts_of_qwen)
CLAUDE_CODE = KnownAgent(
    plugin.CLAUDE_CODE, noise=_notice_of_claude_code, untrusted_meta=_USER_SETTINGS
)
