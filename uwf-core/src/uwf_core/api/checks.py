"""What `uwf doctor` asks of plugins, and `uwf agent check` of an agent."""

from collections.abc import Callable
from typing import Literal

from uwf_core.api.agent import Call
from uwf_core.api.record import record


@record
class CheckResult:
    """How one check went; `hint` is the cure."""

    state: Literal["ok", "warning", "error"]
    message: str
    hint: str | None = None


@record
class Check:
    """A named check; `run` is called in a child process with a time limit."""

    name: str
    run: Callable[[], CheckResult]


@record
class CheckRequest(Call):
    """What the checks of an agent are made for: its options, environment and folder as a step
    would have them; its thread and role are empty.

    Attributes:
        name: the word it was chosen by, as in `AgentContext`.
        state_dir: the agent's own folder, as in `AgentContext`.
        trial: whether a request to the model, which may cost something, was asked for.
    """

    name: str
    state_dir: str
    trial: bool = False
