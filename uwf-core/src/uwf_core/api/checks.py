"""What `uwf doctor` asks of plugins."""

from collections.abc import Callable
from typing import Literal

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
