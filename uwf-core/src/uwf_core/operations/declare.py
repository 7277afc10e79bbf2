"""How an operation is declared: a function without a body in a table.

    @operation("thread.show", "views.show:show_thread", text="thread:thread_text", client="show")
    def thread_show(thread: Thread) -> "ThreadDocument":
        \"\"\"Show the status of a thread.

        $ uwf thread show @last
        \"\"\"

Its parameters are the arguments: a type, and in `Annotated` a kind, a help text and bounds. Its
docstring is the help: its first line is the summary, the lines that begin with `$` are examples,
those with `>` what a model reads about its tool in place of the help.
Everything else is named as text, so that help, completion and lists import nothing.
`uwf_testing.operations` makes the data file of the table.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeVar

Permission = Literal["read", "run", "answer", "admin"]
Function = TypeVar("Function", bound=Callable[..., Any])


class Tool(NamedTuple):
    """An operation as a tool for models: `uwf mcp` serves it.

    Attributes:
        name: of the tool, and of the method of the client, or the function of uwf-mcp, that it
            calls.
        takes: the names of the arguments that a model may give.
        text: what a model reads, if the docstring does not have it.
        pages: the list of the document that comes in pages; default: the operation's `key`.
        permission: in place of the operation's.
    """

    name: str
    takes: str = ""
    text: str = ""
    pages: str = ""
    permission: Permission | None = None


class Operation(NamedTuple):
    """An operation, or a plain command.

    Attributes:
        path: `thread.why`. arguments: the declaring function; None for a plain command.
        target: `module:function`, which gets what its parameters name; see `rows.call`.
        text: `module:function` that renders the document for people (it also gets the arguments
            that it names), or a format such as "{ref}".
        key: the document is `{key: result}`; or the part of the document that the client returns.
        exit: keys of the document, each with the exit code if it is false; the first one counts.
        run: a function of the command line in place of target and text: it gets the session.
        client: the name of the method of the client; "" for none.
        permission: what it does; a call of what does more than read gets an entry in the log.
        document: the result is a text to read, printed unless another format is given.
        formats: further values of --format, which `run` writes.
        mcp: its tools for models.
        hidden: help does not list it.
    """

    path: str
    arguments: Callable[..., Any] | None
    target: str
    text: str = ""
    permission: Permission = "read"
    key: str = ""
    exit: Sequence[str | int] = ()
    run: str = ""
    client: str = ""
    document: bool = False
    formats: Sequence[str] = ()
    mcp: Sequence[Tool] = ()
    hidden: bool = False

    @property
    def logged(self) -> bool:
        """Whether a call gets an entry in the log."""
        return self.permission != "read"


class Table:
    """The operations of a distribution, and its groups of them. Targets are below its `package`
    (`:function` is of the package itself), texts and runs below `texts`, by default its `cli`.

    The file `generated.json` beside the table has its rows; the entry point `uwf.operations` of a
    distribution names its package. `python -m uwf_testing.operations MODULE` makes it.
    """

    def __init__(
        self,
        package: str,
        sections: Mapping[str, Sequence[str]] = {},
        groups: Mapping[str, str] = {},
        texts: str = "",
    ) -> None:
        self.package: Final = package
        self.sections: Final = sections
        self.groups: Final = groups
        self.texts: Final = texts or f"{package}.cli"
        self.operations: Final[list[Operation]] = []

    def operation(self, path: str, target: str, **settings: Any) -> Callable[[Function], Function]:
        """Declare an operation by a function without a body; see `Operation`."""

        def declared(function: Function) -> Function:
            self.operations.append(Operation(path, function, target, **settings))
            return function

        return declared

    def target(self, operation: Operation) -> str:
        """The function that an operation calls, in full."""
        between = "" if operation.target.startswith(":") else "."
        return f"{self.package}{between}{operation.target}"

    def command(self, path: str, target: str, **settings: Any) -> None:
        """Declare a plain click command, whose own help and options count."""
        self.operations.append(Operation(path, None, target, **settings))


class Kind(NamedTuple):
    """What an argument is, beyond its type: how each surface reads and shows it.

    Attributes:
        name: the reading of its words on the command line; see `cli.operation.read_words`.
        metavar: its name in help. words: what completes it; default: by the metavar.
        options: the names of its option; default: `--name-of-the-parameter`, or by position.
        into: the mapping parameter that it is a part of.
        only: "cli", "python" or "models" for what the others leave out.
        hidden: help does not show it.
    """

    name: str = ""
    metavar: str = ""
    words: str = ""
    options: Sequence[str] = ()
    into: str = ""
    only: str = ""
    hidden: bool = False


class Bounds(NamedTuple):
    """The least and the most that a number may be; `open`: the least itself is too little."""

    least: float | None = None
    most: float | None = None
    open: bool = False
