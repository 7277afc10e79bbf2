"""What calls operations for a program: the base of the client."""

from typing import TYPE_CHECKING, Any

from uwf_core.operations.rows import Context, call, function_of
from uwf_core.process.cancel import Cancel

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.watch import Watch


class OperationCaller:
    """What calls operations for a program."""

    def __init__(self, engine: "Engine", watch: "Watch") -> None:
        self._engine = engine
        self._watch = watch

    def _call(self, target: str, key: str, *, cancel: Cancel | None = None, **given: Any) -> Any:
        """The result of an operation, or the part of its document that `key` names."""
        engine, watch = self._engine, self._watch
        context = Context(lambda: engine, engine.env, watch.notice, watch, cancel or Cancel())
        result = call(function_of(target), context, given)
        return result[key] if key and isinstance(result, dict) else result
