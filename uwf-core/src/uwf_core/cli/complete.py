"""Complete a word of the command line: `uwf __complete SHELL INDEX WORD…`.

Prints one candidate per line: `name`, with a description for zsh and fish; `:file` and `:dir`
leave the word to the shell. Reads the static table and imports no command. Prints no errors,
since they would garble the line that the user is typing.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from uwf_core.operations.plugin_rows import every_command, group_at
from uwf_core.operations.rows import EVERYWHERE, Entry, Noun, Row
from uwf_core.plugins.scan import AGENTS, COMMANDS, EVERY, EXPORTERS, EntryPoint, scan

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

_MOST_THREADS: Final = 50

Candidates = Sequence[tuple[str, str]]
"""Candidates and their descriptions ("" for none)."""


def main(arguments: Sequence[str]) -> int:
    """Print the candidates for the word at INDEX of WORD…; returns 0 always."""
    try:
        shell, index, words = arguments[0], int(arguments[1]), list(arguments[2:])
        words += [""] * (index + 1 - len(words))
        found = candidates(words[1:index], words[index])
        sys.stdout.write("".join(_line(shell, *each) for each in found))
    except Exception:
        return 0
    return 0


def _line(shell: str, word: str, meaning: str) -> str:
    if not meaning or shell == "bash" or word.startswith(":"):
        return f"{word}\n"
    return (
        f"{word.replace(':', chr(92) + ':')}:{meaning}\n"
        if shell == "zsh"
        else f"{word}\t{meaning}\n"
    )


class WordPosition(NamedTuple):
    """The position of a word: its entry, the arguments before it, the row of the option that it is
    a value of. `installed` are the entry points of plugins, which were scanned for it.
    """

    entry: Entry
    arguments: int
    option: Mapping[str, Any] | None
    installed: Sequence[EntryPoint]


def candidates(before: Sequence[str], word: str) -> Candidates:
    """The candidates for `word` after the words `before` it (without `uwf`)."""
    if word == "=" or before[-1:] == ["="]:  # bash splits ROLE=AGENT
        place = find_place(before[: -1 if word == "=" else -2])
        if place.option is None or place.option.get("words") != "binding":
            return []
        begun = word.removeprefix("=")
        return [each for each in _values("agent", place) if each[0].startswith(begun)]
    place = find_place(before)
    found: list[tuple[str, str]]
    if place.option is not None and place.option.get("words") == "binding" and "=" in word:
        role = word[: word.index("=") + 1]
        found = [(role + name, meaning) for name, meaning in _values("binding", place)]
    elif place.option is not None:
        found = [*_values_of(place.option, place)]
    elif word.startswith("-"):
        found = [(name, "") for name in options_of(place.entry)]
    elif isinstance(place.entry, Noun):
        found = [(name, entry.help) for name, entry in place.entry.rows.items()]
        found += _foreign(place.entry, place) if not any(map(_is_word, before)) else []
    else:
        rows = [each for each in _arguments(place.entry) if not each.get("options")]
        found = [*_values_of(rows[min(place.arguments, len(rows) - 1)], place)] if rows else []
    return [each for each in found if each[0].startswith((word, ":"))]


def find_place(before: Sequence[str]) -> WordPosition:
    """Follow the words typed so far through the table."""
    installed = scan(EVERY)
    root = every_command(installed)
    entry: Entry = root
    arguments, waiting = 0, None  # type: int, Mapping[str, Any] | None
    for word in before:
        if waiting is not None:
            waiting = None
        elif word.startswith("-") and "=" not in word:
            waiting = _value_kind(entry, word)
        elif isinstance(entry, Noun):
            of_plugin = _group(word, installed) if entry is root else None
            entry = entry.rows.get(word) or of_plugin or Row("", "")
        elif not word.startswith("-"):
            arguments += 1
    return WordPosition(entry, arguments, waiting, installed)


def _group(name: str, installed: Sequence[EntryPoint]) -> Noun | None:
    """The group that a plugin declares in its table."""
    found = (each for each in installed if (each.group, each.name) == (COMMANDS, name))
    return next(filter(None, map(group_at, found)), None)


def _is_word(word: str) -> bool:
    return not word.startswith("-")


def _arguments(entry: Entry) -> Sequence[Mapping[str, Any]]:
    """The rows of the arguments and options of a command."""
    operation = entry.operation if isinstance(entry, Row) else None
    return [] if operation is None else operation["arguments"]


def options_of(entry: Entry) -> Mapping[str, Mapping[str, Any] | None]:
    """The options by their long names, each with its row; without one it is for every command."""
    own = {
        each["options"][-1]: each
        for each in _arguments(entry)
        if each.get("options") and not each.get("hidden")
    }
    return {**dict.fromkeys(name.partition("=")[0] for name in EVERYWHERE), **own}


def _value_kind(entry: Entry, option: str) -> Mapping[str, Any] | None:
    """What the value of an option completes to; None for a flag."""
    own = (each for each in _arguments(entry) if option in each.get("options", ()))
    if row := next(own, None):
        return None if row.get("flag") else row
    kind = dict(each.partition("=")[::2] for each in EVERYWHERE).get(option)
    return {"words": kind} if kind else None


def _values_of(row: Mapping[str, Any], place: WordPosition) -> Candidates:
    """What an argument completes to."""
    if "choices" in row:
        return [(word, "") for word in row["choices"]]
    return _values(row.get("words", ""), place)


def _values(kind: str, place: WordPosition) -> Candidates:
    if kind in _FIXED:
        return [(word, "") for word in _FIXED[kind].split()]
    if kind in ("file", "dir"):
        return [(f":{kind}", "")]
    read = _READ.get(kind)
    return list(read(_engine(place))) if read else []


def _engine(place: WordPosition) -> "Engine":
    from uwf_core.engine.open_engine import open_engine

    engine = open_engine(env=os.environ, cwd=os.getcwd())  # noqa: PTH109
    engine.installed = place.installed
    return engine


def _threads(engine: "Engine") -> Iterator[tuple[str, str]]:
    from uwf_core.views.row import ThreadFilter
    from uwf_core.views.thread_list import list_threads

    yield "@last", "the newest thread"
    roots = list_threads(engine, ThreadFilter(all=True, limit=_MOST_THREADS))
    every = list_threads(engine, ThreadFilter(all=True, limit=_MOST_THREADS, children=True))
    for each in (*roots, *(row for row in every if row["parent"] is not None)):
        called = f", called by {each['parent']}" if each["parent"] is not None else ""
        yield each["thread"], f"{each['workflowName']}, {each['status']}{called}"


def _steps(engine: "Engine") -> Iterator[tuple[str, str]]:
    from uwf_core.views.recorded import open_thread

    yield "@last", "the last step of the newest thread"
    thread = open_thread(engine, "@last")
    for step in thread.newest_first():
        yield step.ref, f"#{step.number} {step.role}"
    yield thread.start, "#0 $START"


def _workflows(engine: "Engine") -> Iterator[tuple[str, str]]:
    from uwf_core.views.workflows import list_workflows

    for each in list_workflows(engine):
        yield each["name"], each["source"]
    yield ":file", ""


def _agents(engine: "Engine") -> Iterator[tuple[str, str]]:
    for found in (each.found for each in engine.plugins.list((AGENTS,))):
        if not found.defect and not found.untrusted:
            yield found.name, found.distribution
    for alias in engine.settings.agents:
        yield alias, "alias"
    for name in engine.agent_catalog(engine.cwd).on_path():
        yield name, "on the PATH"


def _exports(engine: "Engine") -> Iterator[tuple[str, str]]:
    from uwf_core.plugins.status import Status

    yield from ((word, "") for word in _FIXED["format"].split())
    yield "bundle", "the default"
    for each in engine.plugins.list((EXPORTERS,)):
        if each.status is Status.READY:
            yield each.found.name, each.found.distribution


def _plugins(engine: "Engine") -> Iterator[tuple[str, str]]:
    for each in engine.plugins.list():
        if not each.found.defect:
            yield each.found.name, f"{each.found.group.removeprefix('uwf.')}, {each.status.value}"


def _settings(_engine: "Engine") -> Iterator[tuple[str, str]]:
    from uwf_core.config.keys import Config
    from uwf_core.fields.records import camel

    for key in map(camel, Config._fields):
        yield key, ""


def _foreign(root: Noun, place: WordPosition) -> Candidates:
    from uwf_core.cli.plugin_commands import help_line, plugin_commands

    commands = plugin_commands(root.rows, place.installed)
    return [(name, help_line(found[0])) for name, found in commands.items()]


_FIXED: Final[Mapping[str, str]] = {
    "format": "text json yaml",
    "color": "auto always never",
    "status": "active idle running suspended completed cancelled corrupt",
    "type": "string number integer boolean object array null",
    "provider": "openai openrouter xai venice dashscope deepseek siliconflow volcengine kimi glm "
    "stepfun minimax ollama",
}
_READ: Final[Mapping[str, Callable[["Engine"], Iterator[tuple[str, str]]]]] = {
    "thread": _threads,
    "step": _steps,
    "workflow": _workflows,
    "agent": _agents,
    "binding": _agents,
    "export": _exports,
    "plugin": _plugins,
    "setting": _settings,
}
