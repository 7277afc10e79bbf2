"""read_file, write_file, edit_file."""

import difflib
import re

from uwf_agent_builtin.tools.errors import ToolError
from uwf_agent_builtin.tools.images import image_answer
from uwf_agent_builtin.tools.record import (
    Arguments,
    BuiltinTool,
    CallContext,
    ImageAnswer,
    cut,
    parameters,
)
from uwf_agent_builtin.workspace import read_descriptor, shown

READ_CHARACTERS = 60_000
READ_LINES = 2000
FILE_BYTES = 10 * 1024 * 1024
_LINE_CHARACTERS = 2000
_SNIFFED = 8192
_DIFF_CHARACTERS = 4000
_AROUND = 3
_PATH = {"type": "string"}


def read_file(arguments: Arguments, context: CallContext) -> str | ImageAnswer:
    """The text of a file, or some lines of it; or an image."""
    path = arguments["path"]
    with context.workspace.open_file(path) as (descriptor, status):
        content = read_descriptor(descriptor, FILE_BYTES)
        size = status.st_size
    if b"\0" in content[:_SNIFFED]:  # a text that begins as an image does is a text
        return image_answer(shown(path), content, size)
    text = content.decode("utf-8-sig", "replace")
    if not text:
        return "[the file is empty]"
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)  # U+2028 and the like end no line
    first = arguments.get("start_line", 1)
    wanted = lines[first - 1 : first - 1 + arguments.get("lines", READ_LINES)]
    if not wanted:
        raise ToolError(f"{shown(path)} has {len(lines)} lines; line {first} is beyond them")
    taken = _within(wanted)
    body = "".join(taken)
    notes = []
    if len(taken) < len(lines):
        notes.append(f"lines {first} to {first + len(taken) - 1} of {len(lines)}")
    if size > len(content):
        notes.append(f"the first {len(content)} of {size} bytes were looked at")
    if "\ufffd" in body and b"\xef\xbf\xbd" not in content:
        notes.append("\ufffd replaces bytes that are not UTF-8")
    return f"[{'; '.join(notes)}]\n{body}" if notes else body


def _within(lines: list[str]) -> list[str]:
    """As many of the lines as an answer holds; of a very long one its beginning."""
    taken, size = list[str](), 0
    for line in lines:
        if len(line) > _LINE_CHARACTERS:
            left = len(line) - _LINE_CHARACTERS
            line = f"{line[:_LINE_CHARACTERS]}[… {left} more characters in this line]\n"
        size += len(line)
        if size > READ_CHARACTERS and taken:
            break
        taken.append(line)
    return taken


def write_file(arguments: Arguments, context: CallContext) -> str:
    """Make a file, or put another content in its place."""
    content = _encoded(arguments["content"])
    before: list[int | None] = []

    def change(old: bytes | None) -> bytes:
        before.append(None if old is None else len(old))
        return content

    path = context.workspace.write_file(arguments["path"], change)
    was = "a new file" if before[0] is None else f"it had {before[0]} bytes"
    return f"wrote {len(content)} bytes to {path} ({was})"


def edit_file(arguments: Arguments, context: CallContext) -> str:
    """Put `new` in the place of `old`, which must stand in the file exactly once."""
    diff: list[str] = []
    said = shown(arguments["path"])

    def change(content: bytes | None) -> bytes:
        if content is None:
            raise ToolError(f"{said} does not exist; write_file makes it")
        old, new = _of_the_file(arguments["old"], arguments["new"], content)
        count = content.count(old)
        if count == 0:
            raise ToolError(f"`old` does not occur in {said}{_nearly(old, content)}")
        everywhere = arguments.get("replace_all", False)
        if count > 1 and not everywhere:
            places = ", ".join(map(str, _line_numbers(old, content)))
            raise ToolError(
                f"`old` occurs in {said} {count} times (lines {places}): give more lines around "
                "it, or set replace_all; nothing was changed"
            )
        changed = content.replace(old, new)
        diff.append(_diff(content, changed, said))
        return changed

    path = context.workspace.write_file(arguments["path"], change)
    return f"edited {path}\n{diff[0]}"


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as fault:
        raise ToolError(
            f"the text holds a lone surrogate at character {fault.start}; nothing was written"
        ) from fault


def _of_the_file(old: str, new: str, content: bytes) -> tuple[bytes, bytes]:
    """Both texts with the line ends that the file has."""
    if not old:
        raise ToolError("`old` is empty; write_file puts a whole content")
    if old == new:
        raise ToolError("`old` and `new` are the same; nothing was changed")
    first, second = _encoded(old), _encoded(new)
    if first not in content and b"\r\n" in content and b"\r" not in first:
        return first.replace(b"\n", b"\r\n"), second.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return first, second


def _nearly(old: bytes, content: bytes) -> str:
    """Where it occurs if white space is ignored."""
    wanted = [line.strip() for line in old.strip().splitlines()]
    lines = [line.strip() for line in content.splitlines()]
    for start in range(len(lines) - len(wanted) + 1):
        if wanted and lines[start : start + len(wanted)] == wanted:
            end = start + len(wanted)
            return f"; lines {start + 1} to {end} differ from it in white space alone: read them"
    return "; read the file again: it may have changed"


def _line_numbers(old: bytes, content: bytes) -> list[int]:
    numbers, at = list[int](), content.find(old)
    while at >= 0 and len(numbers) < 10:
        numbers.append(content.count(b"\n", 0, at) + 1)
        at = content.find(old, at + len(old))
    return numbers


def _diff(before: bytes, after: bytes, name: str) -> str:
    """A unified diff; only what changed is compared, so that a long file costs nothing."""
    old = [line.decode("utf-8", "replace") for line in before.splitlines()]
    new = [line.decode("utf-8", "replace") for line in after.splitlines()]
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    tail = 0
    while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    first = max(0, same - _AROUND)
    kept = max(0, tail - _AROUND)
    left, right = old[first : len(old) - kept], new[first : len(new) - kept]
    lines = list(difflib.unified_diff(left, right, lineterm="", n=_AROUND))[3:]
    head = f"@@ line {first + 1} of {name} @@"
    return cut("\n".join([head, *lines]), _DIFF_CHARACTERS, "diff")


READ_FILE = BuiltinTool(
    "read_file",
    "Read a text file, some of its lines, or an image.",
    parameters(
        ("path",),
        path=_PATH,
        start_line={"type": "integer", "minimum": 1},
        lines={"type": "integer", "minimum": 1},
    ),
    read_file,
)
WRITE_FILE = BuiltinTool(
    "write_file",
    "Write a whole file; folders are created.",
    parameters(("path", "content"), path=_PATH, content={"type": "string"}),
    write_file,
)
EDIT_FILE = BuiltinTool(
    "edit_file",
    "Replace the exact text `old`, which must occur once unless replace_all.",
    parameters(
        ("path", "old", "new"),
        path=_PATH,
        old={"type": "string"},
        new={"type": "string"},
        replace_all={"type": "boolean"},
    ),
    edit_file,
)
