"""The page of every hook, from `uwf_core.api.hookspecs`."""

import inspect
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from generate.tables import table
from uwf_core import api
from uwf_core.api import hookspecs

INTRODUCTION = """\
# Hooks

A plugin is a module that implements hooks: functions of these names, marked with
`uwf_core.api.hookimpl`. uwf finds it by an entry point of its distribution; the group of the entry
point decides which hook uwf calls. A function whose name begins with `uwf_` but is not a hook is an
error, and so is an argument that the hook does not have.

See [Plugins](../guides/plugins.md) to write one, and
[Versions of the contract](../guides/plugins.md#versions-of-the-contract) for its stability.
"""

_GROUP = re.compile(r"\(group `(?P<group>uwf\.\w+)`\)|\((?P<any>any group)\)")
_SINCE = re.compile(r"^Since: (?P<since>\d+\.\d+)$", re.MULTILINE)
_EXAMPLE = re.compile(r"^Example:\n\s*```python\n(?P<code>.*?)```", re.MULTILINE | re.DOTALL)


class Hook(NamedTuple):
    """A hook as its specification has it.

    Attributes:
        signature: `uwf_turn(event)`, with exactly its arguments.
        gives: the record that it returns a list of, or the one that it gets.
        example: the source of a module.
    """

    name: str
    signature: str
    what: str
    group: str
    since: str
    gives: type
    returns: bool
    example: str


def all_hooks() -> Iterator[Hook]:
    """Every hook specification, in the order of the source."""
    for name, function in vars(hookspecs).items():
        if hasattr(function, f"{hookspecs.PROJECT}_spec"):
            yield _hook(name, function)


def _hook(name: str, function: Any) -> Hook:
    text = inspect.getdoc(function) or ""
    group, since, example = (each.search(text) for each in (_GROUP, _SINCE, _EXAMPLE))
    assert group, f"{name} names no group"
    assert since, f"{name} does not say since when"
    assert example, f"{name} has no example"
    signature = inspect.signature(function)
    returns = signature.return_annotation not in (None, "None")
    annotation = (
        signature.return_annotation if returns else signature.parameters["event"].annotation
    )
    record = str(annotation).removeprefix("Sequence[").rstrip("]")
    return Hook(
        name=name,
        signature=f"{name}({', '.join(signature.parameters)})",
        what=text.splitlines()[0].replace(group[0], "").rstrip(" ."),
        group=group["group"] or group["any"],
        since=since["since"],
        gives=getattr(api, record),
        returns=returns,
        example=inspect.cleandoc(example["code"]),
    )


def markdown() -> str:
    """The whole page."""
    hooks = list(all_hooks())
    rows = [
        (f"[`{hook.signature}`](#{hook.name})", hook.group, hook.what, hook.since) for hook in hooks
    ]
    overview = table(["hook", "group", "what", "since"], rows)
    return "\n\n".join([INTRODUCTION, overview, *(_section(hook) for hook in hooks)])


def _section(hook: Hook) -> str:
    does = "returns a list of" if hook.returns else "gets one"
    fields = table(["field", "type", "default"], list(_fields(hook.gives)))
    return "\n\n".join(
        [
            f"## `{hook.signature}` {{: #{hook.name} }}",
            f"{hook.what}. Group: {hook.group}. Since version {hook.since} of the contract.",
            f"```python\n{hook.example}\n```",
            f"It {does} `{hook.gives.__name__}`: {_about(hook.gives)}",
            fields,
        ]
    )


def _about(record: type) -> str:
    return " ".join(inspect.cleandoc(record.__doc__ or "").split("\n\n")[0].split())


def _fields(record: type) -> Iterator[tuple[str, str, str]]:
    """(name, type, default) of each field of a record, dataclass or named tuple alike."""
    defaults = getattr(record, "_field_defaults", None)
    for name, type_ in inspect.get_annotations(record).items():
        if defaults is None:
            default = getattr(record, "__dataclass_fields__")[name].default  # noqa: B009
            given = "" if type(default).__name__ == "_MISSING_TYPE" else _plain(default)
        else:
            given = _plain(defaults[name]) if name in defaults else ""
        yield f"`{name}`", f"`{_type(type_)}`", given


def _plain(value: object) -> str:
    if isinstance(value, frozenset):
        return f"`{{{', '.join(sorted(map(repr, value)))}}}`" if value else "`{}`"
    return f"`{value!r}`"


def _type(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", text)
