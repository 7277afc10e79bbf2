"""The judges of this distribution by their names, without a look at what else is installed."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from uwf_core.api import AgentContext, Judge, JudgeSpec, read_options
from uwf_core.api.record import record
from uwf_eval.judges.specs import house_specs


@record
class _NoOptions:
    """The options of a judge without any."""


@cache
def house_judges() -> Mapping[str, JudgeSpec]:
    """The records that the hook announces, by name."""
    return {spec.name: spec for spec in house_specs()}


def house_options(name: str, options: Mapping[str, Any], *, where: str) -> Any:
    """The options of a judge of the house as its own record; None where it takes none.

    Raises:
        KeyError: there is no such judge.
        ConfigError: the options do not fit.
    """
    path = house_judges()[name].options
    return read_options(_NoOptions if path is None else _named(path), options, where=where)


def open_house_judge(name: str, options: Any, state_dir: str) -> Judge:
    """The judge, made with the options that `house_options` gave."""
    factory = _named(house_judges()[name].factory)
    made: Judge = factory(options, AgentContext(name=name, state_dir=state_dir))
    return made


def _named(path: str) -> Any:
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)
