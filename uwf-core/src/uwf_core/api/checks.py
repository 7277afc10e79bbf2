"""The checks that `uwf doctor` and `uwf agent check` run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from uwf_core.api.agent import Call


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """The result of a check.

    Attributes:
        state: `ok`, `warning` (it works, with a limitation) or `error`.
        message: what was found.
        hint: the fix.
    """

    state: Literal["ok", "warning", "error"]
    message: str
    hint: str | None = None


@dataclass(frozen=True, kw_only=True)
class Check:
    """A named check.

    Attributes:
        name: what is checked, in a few words.
        run: called in a child process with a time limit.
    """

    name: str
    run: Callable[[], CheckResult]


@dataclass(frozen=True, kw_only=True)
class CheckRequest(Call):
    """The agent to check, with the options, environment and folder of a step; thread and role
    are empty.

    Attributes:
        name: the word that selected it, as in `AgentContext`.
        state_dir: the agent's own folder, as in `AgentContext`.
        trial: whether to send a request to the model, which may cost money.
    """

    name: str
    state_dir: str
    trial: bool = False
