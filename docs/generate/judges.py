"""The page of the built-in judges: what each measures, and its options."""

from collections.abc import Iterator
from importlib import import_module

from generate.options import opening, options_table
from uwf_core.api import JudgeSpec
from uwf_eval.judges.builtin_judges import builtin_specs

INTRODUCTION = """\
# Built-in judges

In [`task.yaml`](formats.md#taskyaml), as an item of `judges`:
`{name: size, builtin: diff-size, weight: 1, options: {full: 10, zero: 100}}`. How to choose one, or
write your own: [the guide](../guides/write-judge.md).
"""


def markdown() -> str:
    """The whole page."""
    return "\n\n".join([INTRODUCTION, *(part for spec in builtin_specs() for part in _judge(spec))])


def _judge(spec: JudgeSpec) -> Iterator[str]:
    yield f"## {spec.name}"
    yield opening(_named(spec.factory))
    if spec.options is None:
        yield "No options."
        return
    options = _named(spec.options)
    yield opening(options)
    yield options_table(options)


def _named(path: str) -> type:
    module, _, attribute = path.partition(":")
    found = getattr(import_module(module), attribute)
    assert isinstance(found, type)
    return found
