"""An engine with all of its stages."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from uwf_core.engine.engine import Engine

if TYPE_CHECKING:
    from uwf_core.api.dispatch import Dispatch


def _rows_of(engine: Engine, heads: Sequence[Any]) -> "list[Dispatch]":
    from uwf_core.engine.dispatching import rows_of  # for threads of workers

    return rows_of(engine, heads)


open_engine = partial(Engine, rows_of=_rows_of)
"""An engine for a process: its environment, its folder and its options (see `Engine`). Raises
ConfigError: there is no home folder.
"""
