"""Every command by name, from the data file of the operations; the call of an operation; what
earlier systems called the commands.

Help and completion read this and import no command. It imports nothing heavy.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.watch import Watch
    from uwf_core.process.cancel import Cancel

CONTEXT = frozenset({"engine", "env", "client", "watch", "cancel", "home", "notice"})
"""What a target can ask for by the names of its parameters, besides its arguments."""
FILE = "generated.json"
_OPENED = {"RecordedThread": "open_thread", "RecordedStep": "open_step"}


class Row(NamedTuple):
    """A command.

    Attributes:
        target: `module:attribute` below the group's package, or in full with an `operation`.
        help: one line.
        operation: its row in the data file of the operations, if it is there.
    """

    target: str
    help: str
    operation: Mapping[str, Any] | None = None


class Noun(NamedTuple):
    """A group of commands; `package` holds the modules of its rows, `sections` orders its help."""

    help: str
    rows: "dict[str, Entry]"
    package: str = "uwf_core.cli"
    sections: Mapping[str, Sequence[str]] = {}


Entry: TypeAlias = Row | Noun

EVERYWHERE: Final = ("--format=format", "--color=color", "--debug", "--help")
"""The options of every command; what follows `=` is the kind of the value for completion."""


def own_rows() -> Mapping[str, Any]:
    """The data of uwf's own operations: `sections`, `groups`, and `operations` by path."""
    return rows_in(os.path.dirname(__file__))  # noqa: PTH120


def rows_in(folder: str) -> Mapping[str, Any]:
    """The data of the operations of the package in a folder."""
    with open(os.path.join(folder, FILE), "rb") as file:  # noqa: PTH118
        rows: Mapping[str, Any] = json.load(file)
    return rows


def own_commands() -> Noun:
    """The commands of uwf itself."""
    data, root = own_rows(), dict[str, Any]()
    add_commands(root, data)
    help = "Workflows in which LLM agents check each other"
    return Noun(help, root, sections=data["sections"])


def add_commands(root: dict[str, Entry], data: Mapping[str, Any], plugin: str = "") -> None:
    """Add the commands of a data file, which may be of a plugin, to the nested rows."""
    for path, operation in data["operations"].items():
        *groups, name = path.split(".")
        rows = root
        for depth, group in enumerate(groups, 1):
            help = data["groups"].get(".".join(groups[:depth]), "")
            noun = rows.setdefault(group, Noun(help, {}))
            rows = noun.rows if isinstance(noun, Noun) else {}
        row = {**operation, "plugin": plugin} if plugin else operation
        rows.setdefault(name, Row(operation.get("command", ""), operation["summary"], row))


def function_of(target: str, owner: str = "", what: str = "") -> Callable[..., Any]:
    """The function that a text names, imported now.

    Args:
        target: `module:function`. owner: its distribution, if that may be missing.
        what: what needs it then, for the message.

    Raises:
        PluginError: the owner is not installed.
    """
    module, _, attribute = target.partition(":")
    try:
        found: Callable[..., Any] = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name != owner.replace("-", "_"):
            raise
        from uwf_core.plugins.repair import not_installed  # for errors only

        raise not_installed(what, owner) from error
    return found


class Context:
    """What a target can ask for besides its arguments.

    Args:
        engine: opens the engine, once a target asks for it. env: its environment.
        notice: shows a line to people.
        watch: follows a run. cancel: ends it.
    """

    def __init__(
        self,
        engine: Callable[[], "Engine"],
        env: Mapping[str, str],
        notice: Callable[[str], None],
        watch: "Watch | None" = None,
        cancel: "Cancel | None" = None,
    ) -> None:
        self._engine = engine
        self.env = env
        self.notice = notice
        self.watch = watch
        self.cancel = cancel

    @property
    def engine(self) -> "Engine":
        """The engine."""
        return self._engine()

    @property
    def client(self) -> Any:
        """A client on that engine, for the operations of other distributions."""
        return function_of("uwf_core.client:client_of")(self.engine, self.notice)

    @property
    def home(self) -> str:
        """uwf's own folder."""
        return self.engine.home


def call(function: Callable[..., Any], context: Context, given: Mapping[str, Any]) -> Any:
    """Call a function with what its parameters name.

    A parameter is one of the context; or an argument by its name, opened if its type is a recorded
    thread or step; or a record (a NamedTuple), whose fields are arguments (None means its default);
    or `word`, the first argument. Arguments that it does not name are for the command line.
    A record that it returns, also in a list, becomes a document, except an outcome.
    """
    code, rest, found = function.__code__, dict(given), dict[str, Any]()
    for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        kind = _kind(function, name)
        if name in CONTEXT:
            found[name] = getattr(context, name)
        elif name in rest or (name == "word" and rest):
            value = rest.pop(name if name in rest else next(iter(rest)))
            opener = _OPENED.get(getattr(kind, "__name__", str(kind)).strip('"'))
            found[name] = value if opener is None else _opened(opener, context, value)
        elif hasattr(kind, "_fields"):
            fields = {each: rest.pop(each) for each in kind._fields if each in rest}
            found[name] = kind(**{key: each for key, each in fields.items() if each is not None})
    return _as_document(function(**found))


def _as_document(result: Any) -> Any:
    if isinstance(result, list | Iterator):
        return [_as_document(each) for each in result]
    if not hasattr(result, "_fields") or hasattr(result, "exit_code"):
        return result
    from uwf_core.fields.records import write_record

    return write_record(result)


def _kind(function: Callable[..., Any], name: str) -> Any:
    """The type of a parameter; its name if it is known to type checkers alone."""
    kind = function.__annotations__.get(name)
    if isinstance(kind, str):
        kind = function.__globals__.get(kind, kind)
    return kind


def _opened(opener: str, context: Context, word: str) -> Any:
    from uwf_core.views import recorded

    return getattr(recorded, opener)(context.engine, word)


RETIRED: Final[Mapping[tuple[str, ...], str]] = {
    ("workflow", "put"): "uwf workflow add FILE",
    ("thread", "step"): "uwf thread exec THREAD",
    ("thread", "steps"): "uwf step list THREAD",
    ("thread", "step-details"): "uwf step show STEP",
    ("thread", "kill"): "uwf thread cancel THREAD",
    ("thread", "running"): "uwf thread list --status running",
    ("thread", "join"): "uwf thread wait THREAD",
    ("workflow", "validate"): "uwf workflow check FILE",
    ("config", "list"): "uwf config show",
    ("cas", "put-text"): "uwf cas put string FILE",
    ("cas", "reindex"): "uwf cas verify",
    ("cas", "schema", "get"): "uwf cas schema show TYPE",
    ("log", "clean"): "the log keeps only its newest 8 MB",
    ("prompt", "setup"): "uwf setup",
    ("skill",): "uwf prompt bootstrap",
    ("import-original",): "uwf cas import FOLDER",
}
"""Commands of earlier systems and their replacements, or why none is needed."""

RETIRED_OPTIONS: Final[Mapping[str, str]] = {
    "--take": "use `--limit N`",
    "--skip": "use `--offset N`",
    "--start": "leave it out: `uwf thread read` begins with the task",
    "--process": "use `uwf log show ENTRY`",
    "--date": "use `uwf log list --since 7d`",
    "--thread": "use `uwf log list --thread THREAD`",
}
"""Options of earlier systems, and what to do today."""

RETIRED_FORMATS: Final[Mapping[str, str]] = {"raw-json": "json", "raw-yaml": "yaml"}
"""Formats of earlier systems and their names today."""
