"""The table of built-in judges. Importing it imports none of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from uwf_core.api import AgentContext, Judge, JudgeSpec, read_options

_ROOM = "uwf_eval.judges.builtin"


def builtin_specs() -> Sequence[JudgeSpec]:
    """The records of the built-in judges: first those without a model, then those with one."""
    return [
        _spec("frontmatter-compliance", "frontmatter:Compliance", "share of valid steps"),
        _spec("expected-route", "route:ExpectedRoute", "whether the expected roles ran", "Route"),
        _spec("command", "command:CommandJudge", "a program's exit code or number", "Command"),
        _spec("diff-size", "diff_size:DiffSize", "number of lines that differ from the fixture"),
        _spec("cost", "amounts:Cost", "cost of the thread in USD"),
        _spec("duration", "amounts:Duration", "duration of the steps"),
        _spec("token-stats", "amounts:TokenStats", "tokens and turns, in all and by role", None),
        _spec("rubric", "rubric:Rubric", "a model judges by your criteria", asks=True),
        _spec(
            "hallucination",
            "stepwise:Hallucination",
            "share of supported claims",
            "Step",
            asks=True,
        ),
        _spec(
            "upstream-consumption", "stepwise:Upstream", "share of used input", "Step", asks=True
        ),
    ]


def _spec(
    name: str, place: str, summary: str, options: str | None = "", *, asks: bool = False
) -> JudgeSpec:
    """The record of a judge; the class of its options is `<Judge>Options` unless given."""
    module, _, judge = place.partition(":")
    own = None if options is None else f"{_ROOM}.{module}:{options or judge}Options"
    factory = f"{_ROOM}.{place}"
    return JudgeSpec(name=name, summary=summary, factory=factory, options=own, needs_model=asks)


@dataclass(frozen=True, kw_only=True)
class _NoOptions:
    """The options of a judge without any."""


@cache
def builtin_judges() -> Mapping[str, JudgeSpec]:
    """The built-in judges by name."""
    return {spec.name: spec for spec in builtin_specs()}


def builtin_options(name: str, options: Mapping[str, Any], *, where: str) -> Any:
    """Read the options of a built-in judge.

    Raises:
        KeyError: unknown judge.
        ConfigError: the options are not valid.
    """
    path = builtin_judges()[name].options
    return read_options(_NoOptions if path is None else _named(path), options, where=where)


def open_builtin_judge(name: str, options: Any, state_dir: str) -> Judge:
    """Create a judge with the options of `builtin_options`."""
    factory = _named(builtin_judges()[name].factory)
    made: Judge = factory(options, AgentContext(name=name, state_dir=state_dir))
    return made


def _named(path: str) -> Any:
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)
