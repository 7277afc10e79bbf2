"""The page of `uwf_core.api`: every name with its signature, fields and docstring."""

import dataclasses
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from generate.options import attributes, default_of
from generate.tables import table
from uwf_core import api

INTRODUCTION = """\
# API for plugins

`uwf_core.api` is the contract for authors of plugins: import everything from there. Records are
frozen; pass their fields by name, since their order can change. How to use them:
[Plugins](../guides/plugins.md) and the guides for each kind. Hooks have [a separate
page](hooks.md).
"""
TOPICS = {
    "Agents": "uwf_core.api.agent",
    "Checks of an agent": "uwf_core.api.checks",
    "Events": "uwf_core.api.events",
    "Extractors": "uwf_core.api.extract",
    "Judges": "uwf_core.api.judge",
    "Models": "uwf_core.api.models",
    "Recorded threads and exporters": "uwf_core.api.exporters",
    "Stores": "uwf_core.api.store",
    "Tools": "uwf_core.api.tool",
    "Failures": "uwf_core.errors",
}
RECORDS = (
    "uwf_core.files.content",
    "uwf_core.thread.history",
    "uwf_core.views.recorded",
    "uwf_core.views.recorded_step",
    "uwf_core.workflow.definition",
)
"""The modules of the records of a thread."""
_MODULES = re.compile(r"\b(?:collections\.abc|typing|uwf_core(?:\.\w+)+)\.")
_FUNCTION = re.compile(r"<function (\w+) at \w+>")
_REST = "Processes, files and secrets"


def markdown() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for title, names in _by_topic().items():
        parts.append(f"## {title}")
        for name in names:
            parts += _entry(name, getattr(api, name))
    return "\n\n".join(parts) + "\n"


def _by_topic() -> dict[str, list[str]]:
    topics: dict[str, list[str]] = {title: [] for title in (*TOPICS, _REST)}
    titles = {module: title for title, module in TOPICS.items()}
    titles |= dict.fromkeys(RECORDS, titles["uwf_core.api.exporters"])
    titles["uwf_core"] = titles["uwf_core.api.agent"]
    for name in api.__all__:
        topics[titles.get(api._MODULE_OF[name], _REST)].append(name)
    return topics


def _entry(name: str, member: Any) -> Iterator[str]:
    yield f"### {name}"
    if not (inspect.isclass(member) or inspect.isfunction(member)):
        yield f"`{_short(repr(sorted(member) if isinstance(member, frozenset) else member))}`"
        return
    text = inspect.getdoc(member) or ""
    if inspect.isfunction(member):
        yield f"```python\n{name}{_short(str(inspect.signature(member)))}\n```"
    yield from _prose(text)
    if dataclasses.is_dataclass(member) or hasattr(member, "_fields"):
        yield table(["field", "type", "default", "meaning"], _fields(member))
    elif inspect.isclass(member):
        for attribute, meaning in attributes(member.__doc__ or "").items():
            yield from (f"`{attribute}`", f": {' '.join(meaning.split())}")
        yield from _methods(member)


def _prose(text: str) -> Iterator[str]:
    """A docstring without its attributes; its other sections as they are written."""
    opening, _, rest = text.partition("\nAttributes:\n")
    _, _, after = rest.partition("\n\n")
    opening, section, lines = opening.partition("\nArgs:\n")
    if not section:
        opening, section, lines = opening.partition("\nRaises:\n")
    yield opening.strip()
    if section:
        yield f"```text\n{section.strip()}\n{lines.rstrip()}\n```"
    if after.strip():
        yield f"```text\n{after.rstrip()}\n```"


def _fields(record: Any) -> Iterator[tuple[str, str, str, str]]:
    meanings: dict[str, str] = {}
    for each in reversed(record.__mro__[:-1]):
        meanings |= attributes(each.__doc__ or "")
    for field in _declared(record):
        kind = inspect.formatannotation(field.type)
        meaning = meanings.get(field.name, "")
        if get_origin(field.type) is Annotated:
            kind = inspect.formatannotation(get_type_hints(record)[field.name])
            meaning = meaning or next(filter(_is_text, get_args(field.type)[1:]), "")
        yield f"`{field.name}`", f"`{_short(kind)}`", default_of(field), meaning


def _is_text(note: Any) -> bool:
    return isinstance(note, str)


def _declared(record: Any) -> Iterator["dataclasses.Field[Any]"]:
    """The fields of a record, or of a named tuple."""
    if dataclasses.is_dataclass(record):
        yield from dataclasses.fields(record)
        return
    for name in getattr(record, "_fields"):  # noqa: B009
        default = record._field_defaults.get(name, dataclasses.MISSING)
        field: dataclasses.Field[Any] = dataclasses.field(default=default)
        field.name, field.type = name, record.__annotations__[name]
        yield field


def _short(kind: str) -> str:
    """A type as one writes it: without the modules, and without quotes around all of it."""
    return _FUNCTION.sub(r"\1", _MODULES.sub("", kind.removeprefix("'").removesuffix("'")))


def _methods(cls: type) -> Iterator[str]:
    for name, member in vars(cls).items():
        if isinstance(member, cached_property):
            member = property(member.func)
        if name.startswith("_") or not (inspect.isfunction(member) or isinstance(member, property)):
            continue
        if isinstance(member, property):
            kind = _short(inspect.formatannotation(member.fget.__annotations__["return"]))
            yield f"`{name}: {kind}`"
        else:
            yield f"`{name}{_short(str(inspect.signature(member)))}`"
        yield from (f": {text}" if not n else text for n, text in enumerate(_prose_of(member)))


def _prose_of(member: Any) -> Iterator[str]:
    text = inspect.getdoc(member) or ""
    yield " ".join(text.partition("\nArgs:")[0].partition("\nRaises:")[0].split())
