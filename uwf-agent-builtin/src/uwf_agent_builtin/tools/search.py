"""Searching the text of files: what `grep` runs in a separate process.

A regular expression of a model may take for ever on an innocent line, and nothing ends it within
this process; a process can be ended. Reads a JSON document on stdin, prints one on stdout.
"""

import json
import os
import re
import sys
from collections.abc import Mapping
from typing import Any

from uwf_agent_builtin.protection import Protection
from uwf_agent_builtin.tools.errors import ToolError
from uwf_agent_builtin.tools.ignore import glob_expression
from uwf_agent_builtin.tools.walk import Entry, files_below
from uwf_agent_builtin.workspace import Workspace, open_regular, read_descriptor

MATCHES = 200
LINE_CHARACTERS = 300
FILE_BYTES = 5 * 1024 * 1024
_SNIFFED = 8192


class Search:
    """A search under way; `lines` has the answer."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        flags = re.IGNORECASE if request.get("ignore_case") else 0
        pattern = request["pattern"]
        if request.get("literal"):
            pattern = re.escape(pattern)
        # On bytes, so that no file needs to be decoded before it is known to match.
        self._expression = re.compile(pattern.encode("utf-8", "surrogateescape"), flags)
        name = request.get("glob")
        self._glob = (
            None if name is None else glob_expression(name if "/" in name else f"**/{name}")
        )
        self._around = request.get("context", 0)
        self.lines: list[str] = []
        self.matches = 0
        self.files = 0
        self.looked_at = 0

    def over(self) -> bool:
        """Whether enough was found."""
        return self.matches >= MATCHES

    def file(self, entry: Entry) -> None:
        """Search one file."""
        if self._glob is not None and not self._glob.match(entry.path):
            return
        try:
            descriptor, status = open_regular(entry.folder, entry.name, entry.path)
        except (OSError, ToolError):
            return  # it is gone, or not ours to read
        try:
            content = read_descriptor(descriptor, min(status.st_size + 1, FILE_BYTES))
        finally:
            os.close(descriptor)
        self.looked_at += 1
        if b"\0" not in content[:_SNIFFED]:
            self._content(entry.path, content)

    def _content(self, path: str, content: bytes) -> None:
        if self._expression.search(content) is None and not self._line_wise(content):
            return
        lines = content.split(b"\n")
        hits = [number for number, line in enumerate(lines) if self._expression.search(line)]
        if not hits:
            return
        self.files += 1
        hits = hits[: MATCHES - self.matches]
        self.matches += len(hits)
        shown_to = -1
        for hit in hits:
            for number in range(max(shown_to + 1, hit - self._around), hit + self._around + 1):
                if number < len(lines):
                    mark = ":" if number in hits else "-"
                    self.lines.append(f"{path}:{number + 1}{mark} {_shown(lines[number])}")
            shown_to = hit + self._around

    def _line_wise(self, content: bytes) -> bool:
        """Whether lines must be tried one by one: `^` and `$` mean other places in a whole file."""
        return any(mark in self._expression.pattern for mark in (b"^", b"$", b"\\A", b"\\Z", b"(?"))


def _shown(line: bytes) -> str:
    text = line.rstrip(b"\r").decode("utf-8", "replace")
    return text if len(text) <= LINE_CHARACTERS else f"{text[:LINE_CHARACTERS]}…"


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """What is found: `{text}`, or `{error}`."""
    try:
        search = Search(request)
    except re.error as fault:
        return {"error": f"the pattern is not a regular expression (Python's): {fault}"}
    protection = Protection(tuple(request["deny"]), own=tuple(request["own"]))
    workspace = Workspace(request["root"], protection)
    try:
        _search(search, workspace, request["path"])
    except ToolError as fault:
        return {"error": str(fault)}
    if not search.lines:
        return {"text": f"[nothing found in {search.looked_at} files]"}
    if search.over():
        search.lines.append(f"[… stopped after {MATCHES} matching lines]")
    return {"text": "\n".join(search.lines)}


def _search(search: Search, workspace: Workspace, path: str) -> None:
    try:
        with workspace.place(path) as place:
            single = place.name != "." and not _is_folder(place.folder, place.name)
            if single:
                search.file(Entry(place.folder, place.name, place.path))
                return
        for entry in files_below(workspace, path):
            search.file(entry)
            if search.over():
                return
    finally:
        workspace.close()


def _is_folder(folder: int, name: str) -> bool:
    import stat

    return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(answer(json.load(sys.stdin))))
