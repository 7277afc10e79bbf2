"""What the tests of the command line share: a workflow, answers, terminals, golden files."""

import json
import os
import pty
import re
import select
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from uwf_core.testing.project import Project

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"

WORKFLOW = """\
version: 1
name: pair
description: One writes, one reviews.
roles:
  writer:
    goal: write
    frontmatter:
      properties: {$status: {const: done}, summary: {type: string}}
      required: [$status, summary]
  reviewer:
    goal: review
    frontmatter:
      oneOf:
        - {properties: {$status: {const: approved}}, required: [$status]}
        - {properties: {$status: {const: rejected}, why: {type: string}}, required: [$status, why]}
graph:
  $START:
    new: {role: writer, prompt: Begin.}
    resume: {role: writer, prompt: Again.}
  writer:
    done: {role: reviewer, prompt: "Review: {{summary}}"}
  reviewer:
    approved: {role: $END, prompt: Done.}
    rejected: {role: writer, prompt: "Repair: {{why}}"}
"""
WROTE = {"role": "writer", "output": "---\n$status: done\nsummary: it\n---\nI wrote it.\n"}
APPROVED = {"role": "reviewer", "output": "---\n$status: approved\n---\nGood.\n"}
ASKS = {"role": "writer", "output": "---\n$status: $SUSPEND\nreason: Which one?\n---\n"}


class Answer(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err.strip().splitlines()[-1])["error"]


Uwf = Callable[..., Answer]


class Terminal(NamedTuple):
    """What `uwf` shows on a terminal: raw bytes as text, the text without colours, the code."""

    code: int
    raw: str

    @property
    def plain(self) -> str:
        return re.sub(r"\x1b\[[0-9;]*[mK]", "", self.raw).replace("\r\n", "\n")

    @property
    def lines(self) -> list[str]:
        """The lines, each as it stands after what was redrawn in it."""
        return [line.rsplit("\r", 1)[-1] for line in self.plain.splitlines()]


def on_terminal(
    project: Project,
    words: Sequence[str],
    *,
    columns: int = 80,
    env: Mapping[str, str] | None = None,
    typed: str = "",
    errors: str = "strict",
    shown: Mapping[str, Callable[[], object]] | None = None,
) -> Terminal:
    """Run `uwf` with a real pseudo-terminal for stdin, stdout and stderr.

    `typed` is given line by line, each when uwf has printed a prompt (`: ` at the end). Ctrl-C is
    typed when it has begun to wait, and again after ten seconds: Python's readline does not see
    one between the prompt and the wait. `errors`: "surrogateescape" for bytes that are not UTF-8,
    typed and echoed. `shown`: what to do when a text (a pattern) is on the screen.
    """
    to_do = dict(shown or {})
    environment = {**project.env, "TERM": "xterm", "COLUMNS": str(columns), **(env or {})}
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(project.folder)
        os.execve(sys.executable, [sys.executable, "-m", "uwf_core", *words], environment)
    lines = re.findall("[^\n]*\n|[\x03\x04]", typed)
    data, last, deadline = b"", "", time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([master], [], [], 10)
        if not ready:
            if last == "\x03":
                os.write(master, last.encode())
            continue
        try:
            chunk = os.read(master, 65536)
        except OSError:  # Linux says so when the last writer has closed its side
            break
        if not chunk:
            break
        data += chunk
        so_far = Terminal(0, data.decode(errors="replace")).plain if to_do else ""
        for text in [each for each in to_do if re.search(each, so_far)]:
            to_do.pop(text)()
        if lines and data.endswith(b": "):
            last = lines.pop(0)
            if last == "\x03":
                time.sleep(0.2)
            os.write(master, last.encode(errors=errors))
    os.close(master)
    _, status = os.waitpid(pid, 0)
    return Terminal(os.waitstatus_to_exitcode(status), data.decode(errors=errors))


def check_golden(name: str, text: str) -> None:
    """Compare with a golden file; WRITE_GOLDEN=1 writes it anew."""
    file = GOLDEN / name
    if os.environ.get("WRITE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text + "\n", encoding="utf-8")
    assert text + "\n" == file.read_text(encoding="utf-8")
