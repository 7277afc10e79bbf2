"""What calls operations for a program: the base of the client."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from uwf_core.operations.rows import call, function_of
from uwf_core.process.cancel import Cancel

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.watch import Watch


class Context:
    """What a program gives the targets that it calls."""

    def __init__(self, engine: "Engine", watch: "Watch", cancel: Cancel | None = None) -> None:
        self.engine = engine
        self.watch = watch
        self.cancel = cancel or Cancel()

    @property
    def home(self) -> str:
        """uwf's own folder."""
        return self.engine.home

    @property
    def notice(self) -> Callable[[str], None]:
        """Shows a line to people."""
        return self.watch.notice


class OperationCaller:
    """What calls operations for a program."""

    def __init__(self, engine: "Engine", watch: "Watch") -> None:
        self._engine = engine
        self._watch = watch

    def _call(self, target: str, key: str, *, cancel: Cancel | None = None, **given: Any) -> Any:
        """The result of an operation, or the part of its document that `key` names."""
        context = Context(self._engine, self._watch, cancel)
        result = call(function_of(target), context, given)
        return result[key] if key and isinstance(result, dict) else result
