"""Reads the examples of a Markdown file and runs them; the rules are in docs/README.md."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

RUN_LANGUAGES = {"console", "python"}
REFUSED_LANGUAGES = {"bash", "sh", "shell", "pycon"}
SECONDS_PER_COMMAND = 60

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
_DIRECTIVE = re.compile(r"^\s*<!-- example: (?P<text>.*?) -->\s*$")
_TITLE = re.compile(r'title="(?P<title>[^"]+)"')


class Block(NamedTuple):
    """One fenced block with what a comment before it asks for."""

    file: Path
    line: int
    language: str
    text: str
    title: str | None
    directive: str


class Command(NamedTuple):
    """One `$ command` of a console block and the lines that stand below it."""

    line: int
    text: str
    expected: list[str]


class ExampleError(AssertionError):
    """An example that does not do what the page says; the text begins with file:line."""


def blocks(file: Path) -> Iterator[Block]:
    """The fenced blocks of `file`; a block within a longer fence is text of that one."""
    lines = file.read_text(encoding="utf-8").splitlines()
    directive, index = "", 0
    while index < len(lines):
        opening = _FENCE.match(lines[index])
        comment = _DIRECTIVE.match(lines[index])
        if comment:
            directive = comment["text"]
        elif opening:
            end = _closing(lines, index, opening["fence"])
            if end == len(lines):
                raise ExampleError(f"{file}:{index + 1}: this block is never closed")
            yield _block(file, index, opening, lines[index + 1 : end], directive)
            directive, index = "", end
        elif lines[index].strip():
            directive = ""
        index += 1


def _closing(lines: list[str], opening: int, fence: str) -> int:
    closing = re.compile(rf"^ *{re.escape(fence[0])}{{{len(fence)},}} *$")
    later = range(opening + 1, len(lines))
    return next((index for index in later if closing.match(lines[index])), len(lines))


def _block(file: Path, index: int, opening: re.Match[str], body: list[str], asks: str) -> Block:
    indent = len(opening["indent"])
    info = opening["info"].strip()
    title = _TITLE.search(info)
    return Block(
        file=file,
        line=index + 1,
        language=re.split(r"[\s{]", info.lstrip("{."), maxsplit=1)[0],
        text="".join(line[indent:] + "\n" for line in body),
        title=title["title"] if title else None,
        directive=asks,
    )


def commands(block: Block) -> list[Command]:
    """The commands of a console block."""
    found: list[Command] = []
    for number, line in enumerate(block.text.splitlines(), start=block.line + 1):
        if line.startswith("$ "):
            found.append(Command(number, line[2:], []))
        elif found and not found[-1].expected and line.startswith("> "):
            raise ExampleError(
                f"{block.file}:{number}: nobody can paste `> `; end a line with `\\`"
            )
        elif found and not found[-1].expected and found[-1].text.endswith("\\"):
            found[-1] = found[-1]._replace(text=found[-1].text + "\n" + line)
        elif found:
            found[-1].expected.append(line.rstrip())
        else:
            raise ExampleError(f"{block.file}:{number}: a console block begins with `$ command`")
    return found


@dataclass
class Project:
    """A throw-away project folder with an empty home, in which the blocks of a page are run."""

    folder: Path
    home: Path
    state: Path
    environment: dict[str, str] = field(default_factory=dict)

    @classmethod
    def below(cls, parent: Path) -> "Project":
        """A new one, in folders below `parent`."""
        project = cls(parent / "project", parent / "home", parent / "shell-state")
        project.folder.mkdir()
        project.home.mkdir()
        project.state.write_text(f"cd {project.folder}\n", encoding="utf-8")
        # A pytest in an example would else delete what all earlier ones have left, for minutes.
        names = ("LANG", "TMPDIR", "PYTEST_DEBUG_TEMPROOT")
        kept = {name: os.environ[name] for name in names if name in os.environ}
        project.environment = {
            **kept,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(project.home),
            "UWF_HOME": str(project.home / ".uwf"),
            "TERM": "dumb",
            "NO_COLOR": "1",
            "COLUMNS": "100",
        }
        return project

    def run(self, block: Block) -> None:
        """Do with a block what its language and its comment ask for."""
        word, _, rest = block.directive.partition(" ")
        place = f"{block.file}:{block.line}"
        if word == "skip,":
            if not rest.startswith("because ") or len(rest) < len("because it"):
                raise ExampleError(f"{place}: a skipped example needs a reason: skip, because …")
        elif word not in {"", "exit", "output", "file"}:
            raise ExampleError(f"{place}: {block.directive!r} is no comment of an example")
        elif word == "file" or block.title:
            self._write(place, rest if word == "file" else str(block.title), block.text)
        elif block.language == "console":
            self._console(block, int(rest) if word == "exit" else 0, exact=word == "output")
        elif block.language == "python":
            self._python(block)
        elif block.language in {"yaml", "yml"}:
            _check_yaml(block)
        elif block.language in REFUSED_LANGUAGES:
            raise ExampleError(f"{place}: write ```console with `$ ` before each command")

    def _write(self, place: str, name: str, text: str) -> None:
        target = (self.folder / name).resolve()
        if not target.is_relative_to(self.folder.resolve()):
            raise ExampleError(f"{place}: {name} is outside the project folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def _console(self, block: Block, last_exit: int, *, exact: bool) -> None:
        steps = commands(block)
        for command in steps:
            wanted = last_exit if command is steps[-1] else 0
            place = f"{block.file}:{command.line}: $ {command.text}"
            code, printed = self._shell(command.text)
            if code != wanted:
                raise ExampleError(f"{place}\nexit {code} instead of {wanted}, printed:\n{printed}")
            if (exact or command.expected) and not matches(command.expected, printed):
                expected = "\n".join(command.expected)
                raise ExampleError(f"{place}\nexpected:\n{expected}\nprinted:\n{printed}")

    def _shell(self, command: str) -> tuple[int, str]:
        keep = f"{{ export -p; printf 'cd %q\\n' \"$PWD\"; }} >{self.state}"
        script = f"source {self.state}\nset -a -o pipefail\n{command}\ncode=$?\n{keep}\nexit $code"
        return on_a_terminal(["bash", "-c", script], self.folder, self.environment)

    def _python(self, block: Block) -> None:
        argv = [sys.executable, "-c", block.text]
        code, printed = on_a_terminal(argv, self.folder, self.environment)
        if code != 0:
            raise ExampleError(f"{block.file}:{block.line}: exit {code}, printed:\n{printed}")


def on_a_terminal(argv: list[str], cwd: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Run a program whose output is a terminal, as a reader's is; its exit code and its output.

    There is nothing to read on its standard input.
    """
    ours, theirs = pty.openpty()
    try:
        child = subprocess.Popen(
            argv,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
    finally:
        os.close(theirs)
    try:
        output = _read_all(ours, child)
    finally:
        os.close(ours)
    return child.wait(), output.decode("utf-8", "replace").replace("\r\n", "\n")


def _read_all(terminal: int, child: "subprocess.Popen[bytes]") -> bytes:
    chunks: list[bytes] = []
    deadline = time.monotonic() + SECONDS_PER_COMMAND
    while time.monotonic() < deadline:
        readable = select.select([terminal], [], [], 0.1)[0]
        if readable:
            try:
                chunk = os.read(terminal, 65536)
            except OSError:  # how Linux says that nobody has the other end any more
                return b"".join(chunks)
            if not chunk:
                return b"".join(chunks)
            chunks.append(chunk)
        elif child.poll() is not None:
            return b"".join(chunks)
    child.kill()
    return b"".join([*chunks, b"\n(stopped: it went on for too long)\n"])


_KINDS = [
    (re.compile(r"(?<!\w)[0-9A-HJKMNP-TV-Z]{26}(?!\w)"), r"[0-9A-HJKMNP-TV-Z]{26}"),
    (re.compile(r"(?<!\w)[0-9A-HJKMNP-TV-Z]{13}(?!\w)"), r"[0-9A-HJKMNP-TV-Z]{13}"),
    (
        re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?"),
        r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?",
    ),
    (re.compile(r"(?<!\w)\d+(\.\d+)? ?(ms|s|min|h)(?!\w)"), r"\d+(\.\d+)? ?(ms|s|min|h)"),
    (re.compile(r"\.\.\."), r".*"),
]


def matches(expected: list[str], printed: str) -> bool:
    """Whether `printed` is what the lines of a page promise."""
    lines = [_pattern(line) for line in "\n".join(expected).strip("\n").splitlines()]
    actual = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
    pattern = "".join(r"(?:.*\n)*?" if line is None else line + r"\n" for line in lines)
    return re.fullmatch(pattern, actual + "\n" if actual else "") is not None


def _pattern(line: str) -> str | None:
    """A line as a regular expression, or None for a line that stands for any lines."""
    if line.strip() == "...":
        return None
    pattern, position = "", 0
    while position < len(line):
        found = [(kind.search(line, position), stands_for) for kind, stands_for in _KINDS]
        first = min(
            ((match, text) for match, text in found if match),
            key=lambda each: each[0].start(),
            default=None,
        )
        if first is None:
            break
        pattern += re.escape(line[position : first[0].start()]) + first[1]
        position = first[0].end()
    return pattern + re.escape(line[position:])


def _check_yaml(block: Block) -> None:
    from uwf_core.yaml.source import parse_yaml

    parse_yaml(block.text, file=f"{block.file}:{block.line}")
