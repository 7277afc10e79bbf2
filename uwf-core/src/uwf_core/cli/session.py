"""One call of the command: its format, its streams and the engine it works on."""

import errno
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from io import TextIOWrapper
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from uwf_core.cli.render.colours import Screen, is_terminal, screen_of
from uwf_core.errors import UsageError

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.plugins.scan import EntryPoint
    from uwf_core.views.recorded import RecordedThread
    from uwf_core.views.recorded_step import RecordedStep


_READER_LEFT = (errno.EPIPE, errno.EIO)
"""The errors by which a pipe and a terminal report that the reader has gone."""

Document = TypeVar("Document")


class Session:
    """The first argument of every command: its output, and the engine.

    Attributes:
        color: auto, always or never. debug: whether an error shows its traceback.
        document: whether the command's result is a text to read, printed unchanged by default.
        logged: whether this call gets a log entry.
        thread: the thread that the call is about, once known, for the log.
        interrupted: whether Ctrl-C or SIGTERM came.
        plugin: the command of a plugin that runs, None if it is one of uwf.
        failure: kind and message of the failure that a run ended with, for the log.
        via: where a person acts, as nodes record it.
    """

    def __init__(self) -> None:
        self.env = os.environ
        self.chosen: str | None = None
        self.color = "auto"
        self.debug = False
        self.document = False
        self.logged = False
        self.thread: str | None = None
        self.interrupted = False
        self.plugin: EntryPoint | None = None
        self.failure: tuple[str, str] | None = None
        self.via = "cli"
        self.stdout: TextIO = _writable(sys.stdout)
        self.stderr: TextIO = _writable(sys.stderr)
        self._engine: Engine | None = None

    @property
    def format(self) -> str:
        """The requested format; else text on a terminal and for documents, else JSON."""
        if self.chosen is not None:
            return self.chosen
        return "text" if self.document or is_terminal(self.stdout) else "json"

    @property
    def screen(self) -> Screen:
        """The screen of stdout."""
        return screen_of(self.stdout, self.env, self.color)

    @property
    def is_one_stream(self) -> bool:
        """Whether stdout and stderr go to the same terminal, file or pipe."""
        try:
            return os.path.sameopenfile(self.stdout.fileno(), self.stderr.fileno())
        except (OSError, ValueError):  # one of them is closed, or not a file
            return False

    @property
    def engine(self) -> "Engine":
        """The engine, opened on first use."""
        if self._engine is None:
            from uwf_core.engine.open_engine import open_engine

            self._engine = open_engine(
                env=self.env, cwd=working_folder(), on_fault=self._tell_fault, via=self.via
            )
        return self._engine

    @property
    def opened(self) -> "Engine | None":
        """The engine, if the command has used it."""
        return self._engine

    def reopened(self) -> "Engine":
        """Reopen the engine after its settings changed."""
        self.close()
        self._engine = None
        return self.engine

    def _tell_fault(self, fault: BaseException | str) -> None:
        self.note(f"note: {fault}")

    def close(self) -> None:
        """Close the engine."""
        if self._engine is not None:
            self._engine.close()

    def emit(self, document: Document, text: Callable[[Document, Screen], str]) -> None:
        """Print the result: `text` of it for people, with untrusted control characters made
        visible, or the document itself.
        """
        if self.format == "text":
            from uwf_core.escape import clean_document

            self.write(text(clean_document(document), self.screen))
        else:
            self.write(self.data(document))

    def emit_rows(
        self,
        key: str,
        rows: Iterable[str],
        text: Callable[[Any, Screen], str],
        head: Mapping[str, Any] = {},
    ) -> None:
        """Like `emit`, for `{**head, key: rows}`, where each row is JSON already; many are not in
        memory at once.
        """
        waiting = iter(rows)
        first = list(islice(waiting, MANY + 1))
        rows = chain(first, waiting)
        if self.format == "json" and self._is_wide and len(first) > MANY:
            self._print(map(self._safe, _parts_of_rows(head, key, rows)))
        else:
            self.emit({**head, key: json.loads(f"[{','.join(rows)}]")}, text)

    def emit_line(self, document: Document, text: Callable[[Document, Screen], str]) -> None:
        """Like `emit`, for one of a series of results: JSON on one line."""
        if self.format == "json":
            self.write(self.data(document, compact=True))
        else:
            if self.format == "yaml":
                self.write("---")
            self.emit(document, text)

    def data(self, document: Any, *, compact: bool = False) -> str:
        """A document as JSON or YAML, as requested (JSON for text). What a terminal
        would obey is escaped there; the value is the same.
        """
        return self._safe(self._data(document, compact=compact))

    def _safe(self, text: str) -> str:
        if not is_terminal(self.stdout):
            return text
        from uwf_core.escape import escaped

        return escaped(text, is_yaml=self.format == "yaml")

    def _data(self, document: Any, *, compact: bool) -> str:
        if self.format == "yaml":
            from uwf_core.yaml.text import yaml_text

            return yaml_text(document).rstrip()
        return as_json(document, ascii_only=not self._is_wide, compact=compact)

    @property
    def _is_wide(self) -> bool:
        """Whether stdout takes every character."""
        return (self.stdout.encoding or "").lower().replace("-", "") == "utf8"

    def write(self, text: str) -> None:
        """Print `text` and a line end on stdout. A reader that has gone is not an error.

        Raises:
            OSError: writing failed for another reason, such as a full disk.
        """
        self._print((text if text.endswith("\n") or not text else text + "\n",))

    def write_lines(self, lines: Iterable[str]) -> None:
        """Print lines, with untrusted control characters made visible."""
        from uwf_core.escape import clean

        self._print(clean(f"{line}\n") for line in lines)

    def recorded_thread(self, word: str) -> "RecordedThread":
        """A thread as it is stored. Raises UnknownIdError."""
        from uwf_core.views.recorded import open_thread

        return open_thread(self.engine, word)

    def recorded_step(self, word: str) -> "RecordedStep":
        """A step as it is stored. Raises UnknownIdError."""
        from uwf_core.views.recorded import open_step

        return open_step(self.engine, word)

    def write_file(self, name: str, what: str, parts: Iterable[bytes]) -> tuple[str, int]:
        """Write or replace a file, seen from the current folder; returns its path and size. `what`
        is its content, for messages.

        Raises:
            UsageError: it cannot be written; what was there is unchanged.
        """
        from pathlib import Path

        from uwf_core.maintenance.replaced_file import replaced_file

        target = Path(working_folder(), name)
        with replaced_file(target, what) as file:
            file.writelines(parts)
            return str(target), file.tell()

    def emit_file(self, document: Mapping[str, Any]) -> None:
        """Like `emit`, for a file of a thread that was written."""
        self.emit(document, _file_text)

    def write_parts(self, parts: Iterable[bytes]) -> None:
        """Print bytes as they are; on a terminal as text, with what it would obey escaped.

        Raises:
            OSError: writing failed for another reason than that the reader has gone.
        """
        if is_terminal(self.stdout):
            from uwf_core.escape import clean

            self.write(clean(b"".join(parts).decode("utf-8", "replace")))
            return
        for part in parts:
            self._written(self.stdout.buffer.write, part)
            if self.reader_left:
                return

    def _print(self, parts: Iterable[str]) -> None:
        self._written(self.stdout.writelines, parts)

    def _written(self, write: Callable[[Any], object], what: Any) -> None:
        try:
            write(what)
            self.stdout.flush()
        except OSError as error:
            self.stdout = self._nowhere(self.stdout)
            if error.errno not in _READER_LEFT:
                raise

    def note(self, text: str) -> None:
        """A line for people on stderr, harmless for the terminal."""
        from uwf_core.escape import clean

        self.write_error(clean(text))

    def write_error(self, text: str) -> None:
        """Print `text` as it is and a line end on stderr, if that is still there."""
        try:
            self.stderr.write(text + "\n")
            self.stderr.flush()
        except OSError:  # the reader has gone; the work continues
            self.stderr = self._nowhere(self.stderr)

    @property
    def reader_left(self) -> bool:
        """Whether the reader of stdout has closed it."""
        return self.stdout.name == os.devnull

    @staticmethod
    def _nowhere(stream: TextIO) -> TextIO:
        """Point the stream's descriptor at the null device, so that no later flush fails."""
        sink = open(os.devnull, "w")  # noqa: SIM115 (it replaces the stream until the end)
        os.dup2(sink.fileno(), stream.fileno())
        return sink


def _writable(stream: TextIO | None) -> TextIO:
    """The stream, set to escape what its encoding lacks; the null device if it is closed."""
    if stream is None:
        return open(os.devnull, "w")
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


def now_ms() -> int:
    """The time, in ms since 1970."""
    return time.time_ns() // 1_000_000


def working_folder() -> str:
    """The current folder.

    Raises:
        UsageError: it has been removed.
    """
    try:
        return os.getcwd()  # noqa: PTH109 (pathlib is not needed to start)
    except FileNotFoundError as error:
        raise UsageError(
            "the current folder no longer exists", hint="change to an existing folder"
        ) from error


# -- documents as JSON -----------------------------------------------------------------------------

MANY = 100
"""A list of more rows than this is for programs: it gets one row per line, which is ten times as
fast as an indented one.
"""


def as_json(value: Any, *, ascii_only: bool = False, compact: bool = False) -> str:
    """`value` as JSON: indented for reading, or on one line."""
    if compact or not _has_many(value):
        return json.dumps(value, ensure_ascii=ascii_only, indent=None if compact else 2)
    # Looking for circles takes a fifth of the time, and no document has one.
    encode = json.JSONEncoder(ensure_ascii=ascii_only, check_circular=False).encode
    parts = (
        lines_of_rows(str(key), map(encode, each))
        if _is_long(each)
        else f"  {encode(str(key))}: {encode(each)}"
        for key, each in value.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}"


def lines_of_rows(key: str, rows: Iterable[str]) -> str:
    """A list whose rows are JSON already, one per line."""
    return f"  {json.dumps(key)}: [\n    {_BETWEEN.join(rows)}\n  ]"


def _parts_of_rows(head: Mapping[str, Any], key: str, rows: Iterable[str]) -> Iterator[str]:
    """A document that ends with `lines_of_rows`, in parts: copies of the whole of 10,000 threads
    took a tenth of the command's time.
    """
    dump = partial(json.dumps, ensure_ascii=False)
    fields = "".join(f"  {dump(name)}: {dump(value)},\n" for name, value in head.items())
    yield f"{{\n{fields}  {json.dumps(key)}: [\n    "
    waiting, begin = iter(rows), ""
    while some := list(islice(waiting, MANY)):
        yield begin + _BETWEEN.join(some)
        begin = _BETWEEN
    yield "\n  ]\n}\n"


_BETWEEN = ",\n    "


def _has_many(value: Any) -> bool:
    return isinstance(value, dict) and any(_is_long(each) for each in value.values())


def _is_long(value: Any) -> bool:
    return isinstance(value, list) and len(value) > MANY


def _file_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """The file of a thread in another format than a bundle."""
    size = f"{document['format']}, {document['bytes']} bytes"
    return f"{document['file']}: thread {document['thread']}, {size}\nhead {document['head']}"
