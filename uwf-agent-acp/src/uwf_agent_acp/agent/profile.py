"""How agents of the protocol differ: what a profile decides, with the protocol's own defaults."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from uwf_agent_acp.agent.failures import failure_of_end
from uwf_agent_acp.agent.options import ProgramOptions
from uwf_agent_acp.agent.usage import UsageForm, usage_of
from uwf_agent_acp.protocol.client import PromptEnd, SessionState, TokenCounts
from uwf_agent_acp.protocol.updates import Chunk
from uwf_core.api import AgentFailure, Call, ProgramResult, SessionLost, Usage


class Launch(NamedTuple):
    """How the program of a call is started.

    Attributes:
        argv: program and arguments.
        env: additions to the call's environment.
        cwd: another folder than the call's to start it in; the session works in the call's.
    """

    argv: Sequence[str]
    env: Mapping[str, str] = {}
    cwd: str | None = None


class Profile:
    """One agent with its options, for one call.

    Args:
        name: in one word, for files. title: for messages.
        settings: what a session is put into before its prompt.
        usage: the form of its token counts.

    Attributes:
        is_mode_required: whether a missing mode is an error.
    """

    def __init__(
        self, name: str, title: str, settings: ProgramOptions, usage: UsageForm = "turn"
    ) -> None:
        self.name, self.title, self.settings = name, title, settings
        self._usage = usage
        self.is_mode_required = True

    def launch(self, call: Call, folder: Path) -> Launch:
        """How to start the program; `folder` is the temporary folder of the call."""
        raise NotImplementedError

    def check_ready(self) -> None:
        """Raise a failure if the program must not get a prompt; called just before it."""

    def meta(self, call: Call) -> Mapping[str, Any]:
        """What only this agent knows, for `_meta` of the requests that open a session."""
        return {}

    def prompt_text(self, text: str) -> str:
        """A prompt that the agent does not take for anything else."""
        return text

    def is_said(self, chunk: Chunk) -> bool:
        """Whether a chunk is the model's, and not the program's own."""
        return True

    def counts(self, end: PromptEnd, metas: Sequence[Mapping[str, Any]]) -> TokenCounts | None:
        """The counts of a prompt. `metas`: what its chunks have for this agent alone."""
        return end.usage

    def check_load(self, session: str) -> None:
        """Raise `SessionLost` if an earlier session of this agent must not be continued."""

    def proof_of_load(self, state: SessionState, replayed: Sequence[Chunk]) -> str:
        """The evidence that a loaded session is the requested one.

        Args:
            state: the answer to `session/load`.
            replayed: the recorded messages of user and assistant that came before it.

        Raises:
            SessionLost: there is none.
        """
        if not replayed:
            raise SessionLost(
                f"{self.title} has nothing recorded of the session {state.id}", session=state.id
            )
        return f"session/load of {state.id} replayed {len(replayed)} messages"

    def check_fork(self, state: SessionState, session: str) -> None:
        """Raise `SessionLost` if the answer to `session/fork` does not name a new session."""
        if not state.id or state.id == session:
            raise SessionLost(f"{self.title} did not fork the session {session}", session=session)

    def usage(self, counts: TokenCounts | None, *, turns: int, duration_ms: int) -> Usage:
        """The usage of the call."""
        return usage_of(counts, self._usage, turns=turns, duration_ms=duration_ms)

    def failure_of_own(self, said: Sequence[Chunk], session: str) -> AgentFailure | None:
        """The failure that the program reports among the model's words; None where it reports none.

        Args:
            said: the chunks that are not the model's.
        """
        return None

    def failure_of_end(
        self, end: PromptEnd, text: str, result: ProgramResult, session: str
    ) -> AgentFailure | None:
        """The failure that the end of a prompt is; None where `text` is an answer."""
        return failure_of_end(self.title, end, text, session)

    def stop_reason(self, end: PromptEnd, result: ProgramResult) -> str:
        """Why the turn ended."""
        return end.stop_reason

    @property
    def setup_hint(self) -> str | None:
        """How to sign in or configure it."""
        return None

    @property
    def install_hint(self) -> str | None:
        """How to install its program."""
        return None
