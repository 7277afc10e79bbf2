"""What `uwf doctor` asks of plugins."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """How one check went; `hint` is the cure."""

    state: Literal["ok", "warning", "error"]
    message: str
    hint: str | None = None


@dataclass(frozen=True, kw_only=True)
class Check:
    """A named check; `run` is called in a child process with a time limit."""

    name: str
    run: Callable[[], CheckResult]
