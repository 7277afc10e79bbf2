"""The agent: Hermes as a profile of the Agent Client Protocol."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from uwf_agent_acp.agent.acp_agent import AcpAgent
from uwf_agent_acp.agent.profile import Launch, Profile
from uwf_agent_acp.protocol.client import PromptEnd, SessionState
from uwf_agent_acp.protocol.updates import Chunk
from uwf_agent_hermes.failures import INSTALL, SETUP, diagnosis_of, failure_of_end
from uwf_agent_hermes.options import HermesOptions
from uwf_agent_hermes.overlay import READING, Overlay
from uwf_core.api import (
    AgentContext,
    AgentFailure,
    Call,
    ProgramResult,
    SessionLost,
    Unavailable,
)

_NO_COMMAND = "This message begins with a slash, but is not a command:\n\n"


class HermesAgent(AcpAgent):
    """Hermes, one process for each call.

    It stops as soon as its turn is over: the session is recorded by then, and its background work
    (a title, a review of its memory) would be requests to the model that nobody counts.

    Args:
        options: see `HermesOptions`.
        context: `state_dir` keeps the questions to a person.
    """

    def __init__(self, options: HermesOptions | None, context: AgentContext) -> None:
        super().__init__(context)
        self._options = options or HermesOptions()

    def profile_of(self, call: Call, *, is_question: bool) -> Profile:
        """See `AcpAgent`: a question gets only the tools that read, and no permission."""
        options = call.options if isinstance(call.options, HermesOptions) else self._options
        if is_question:
            options = replace(options, permission="deny", mode="default")
        return _HermesProfile(options, is_question=is_question)


class _HermesProfile(Profile):
    def __init__(self, options: HermesOptions, *, is_question: bool) -> None:
        settings = replace(options, mode=options.edit_mode, model=options.model_id)
        super().__init__("hermes", "Hermes", settings, usage="total")
        self.is_mode_required = options.mode is not None
        self._options = options
        self._only = READING if is_question else None
        self._overlay: Overlay | None = None

    def launch(self, call: Call, folder: Path) -> Launch:
        env, options = environment(self._options), self._options
        if self._only is not None or not options.memory:
            all_ = {**call.env, **env, "TMPDIR": str(folder)}
            home = Path(hermes_home(options, call.env)).expanduser()
            self._overlay = Overlay(folder, home, all_, call, self._only)
            env |= self._overlay.env
        elif not call.trusted:
            env["TERMINAL_CWD"] = call.cwd
        # It loads plugins out of the folder that it is started in, where the user has allowed
        # that at all. The session works in the folder that the protocol names.
        is_elsewhere = self._overlay is not None or not call.trusted
        return Launch(arguments(options), env, str(folder) if is_elsewhere else None)

    def check_ready(self) -> None:
        """Check that what a role must not have is taken away.

        Raises:
            Unavailable: this Hermes has not loaded the plugin of the overlay.
        """
        if self._overlay is not None and not self._overlay.is_in_force:
            raise Unavailable(
                "Hermes did not load the plugin that keeps its memory, and in a question all tools "
                "that change something, from the role",
                hint="use 0.19, without HERMES_SAFE_MODE; or allow its memory: `memory: true`",
            )

    def prompt_text(self, text: str) -> str:
        """`text` that Hermes does not treat as one of its commands (such as `/reset`)."""
        return _NO_COMMAND + text if text.lstrip().startswith("/") else text

    def proof_of_load(self, state: SessionState, replayed: Sequence[Chunk]) -> str:
        """See `Profile`: Hermes answers for an unknown session as well, without `modes`."""
        if state.modes is None:
            raise SessionLost(f"Hermes does not know the session {state.id}", session=state.id)
        return super().proof_of_load(state, replayed)

    def check_fork(self, state: SessionState, session: str) -> None:
        """See `Profile`: for an unknown session Hermes answers with an empty id."""
        super().check_fork(state, session)
        if state.modes is None:
            raise SessionLost(f"Hermes did not fork the session {session}", session=session)

    def failure_of_end(
        self, end: PromptEnd, text: str, result: ProgramResult, session: str
    ) -> AgentFailure | None:
        return failure_of_end(end, text, diagnosis_of(result), session)

    def stop_reason(self, end: PromptEnd, result: ProgramResult) -> str:
        return diagnosis_of(result).reason or end.stop_reason

    @property
    def setup_hint(self) -> str | None:
        return SETUP

    @property
    def install_hint(self) -> str | None:
        return INSTALL


def arguments(options: HermesOptions) -> list[str]:
    """The command line."""
    return [options.command, "acp", *options.extra_arguments]


def environment(options: HermesOptions) -> dict[str, str]:
    """The additions to the call's environment."""
    # After an edit of code Hermes would ask its model for a verification, and add what that answers
    # to the reply: the deliverable would be an earlier word than its last one.
    own = {"HERMES_VERIFY_ON_STOP": "0"}
    home = {} if options.home is None else {"HERMES_HOME": os.path.expanduser(options.home)}  # noqa: PTH111
    return {**own, **options.environment, **home}


def hermes_home(options: HermesOptions, env: Mapping[str, str]) -> str:
    """Hermes' folder, found as Hermes finds it."""
    both = {**env, **environment(options)}
    return both.get("HERMES_HOME") or os.path.join(both.get("HOME", "~"), ".hermes")  # noqa: PTH118
