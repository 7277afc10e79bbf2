"""A scripted program that an adapter's tests run instead of the real one.

    program = ScriptedProgram(tmp_path, "claude", [
        {"stdin": "read"},
        '{"type": "result", "result": "done", "session_id": "<<--session-id>>"}',
    ])
    env["PATH"] = f"{tmp_path}:{env['PATH']}"        # or program.path
    …
    assert program.calls[0].stdin == "the prompt"
    assert not program.daemons_alive()

It is an executable file that runs in real processes. A script is a list of acts, done in order:

    TEXT                     a line on stdout; `<<--name>>` is the argument that follows --name
    {print: TEXT}            the same
    {write: TEXT}            without the end of the line
    {error: TEXT}            a line on stderr
    {hex: 00ff0a}            these bytes on stdout
    {megabytes: N}           N MB on stdout, in lines of 1000 characters
    {sleep: SECONDS}
    {hang: true}             until a signal ends it
    {ignore: [TERM, INT]}    signals that are ignored from here on
    {stdin: read}            reads all of it, for `calls`; {stdin: echo} gives it back on stdout
    {close: stdout}          or stderr, stdin
    {file: {path, text}}     writes a file; relative to the working folder
    {daemon: {seconds, ignore: [TERM], holds: true}}   starts a child that leaves the group and
                             session, as a daemon does; holds: it keeps stdout and stderr open
    {exit: CODE}             at once; at the end of the list the exit code is 0
    {die: KILL}              by a signal
"""

import json
import os
import shlex
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uwf_core.fields.mismatch import nearest
from uwf_core.process.identity import ProcessId
from uwf_testing import child_program_run

Act = str | Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ProgramCall:
    """One call of the program. `stdin` is the text that it read; None if it did not read."""

    arguments: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    pid: int
    stdin: str | None = None


class ScriptedProgram:
    """An executable named `name` in `folder` that plays a script.

    Args:
        folder: of the program; put it first on the PATH to replace a real program.
        name: the command's name.
        calls: one script for each call, in order; the last one repeats.
        by_argument: scripts for calls that have this argument (`--version`), whichever call it
            is; these are recorded, too, but do not count.

    Raises:
        ValueError: an act is unknown; the message names the nearest one.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        *calls: Sequence[Act],
        by_argument: Mapping[str, Sequence[Act]] | None = None,
    ) -> None:
        self.path = folder / name
        self._records = folder / f".{name}.calls"
        self._records.mkdir(parents=True)
        script = {
            "calls": [_checked(acts) for acts in calls or [[]]],
            "byArgument": {word: _checked(acts) for word, acts in (by_argument or {}).items()},
        }
        (self._records / "script.json").write_text(json.dumps(script), encoding="utf-8")
        run = [sys.executable, "-I", "-S", child_program_run.__file__, str(self._records)]
        # Not `#!…python`: the path of an environment may be too long for such a line.
        text = f'#!/bin/sh\nexec {shlex.join(run)} "$@"\n'
        self.path.write_text(text, encoding="utf-8")
        self.path.chmod(self.path.stat().st_mode | stat.S_IXUSR)

    @property
    def calls(self) -> list[ProgramCall]:
        """All calls so far, in order, also those selected by an argument."""
        records = sorted(self._records.glob("call-*.json"))
        return [_call(json.loads(file.read_text(encoding="utf-8"))) for file in records]

    @property
    def daemons(self) -> list[int]:
        """The process ids of all daemons that it started."""
        return sorted(int(file.name.partition("-")[2]) for file in self._records.glob("daemon-*"))

    def daemons_alive(self) -> list[int]:
        """The daemons that still run."""
        return [pid for pid in self.daemons if self._is_alive(pid)]

    def _is_alive(self, pid: int) -> bool:
        """Whether it is this daemon and not a later process with the same id."""
        identity = ProcessId.of(pid)
        if identity is None or not identity.is_alive():
            return False
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except FileNotFoundError:
            return not Path("/proc/self").exists()  # no /proc at all: macOS
        return os.fsencode(self._records) in command


def _checked(acts: Sequence[Act]) -> list[dict[str, Any]]:
    return [_act(act) for act in acts]


def _act(act: Act) -> dict[str, Any]:
    if isinstance(act, str):
        return {"print": act}
    if len(act) != 1:
        raise ValueError(f"an act has one key: {dict(act)!r}")
    name = next(iter(act))
    if name not in child_program_run.ACTS:
        close = nearest(name, child_program_run.ACTS)
        raise ValueError(f"unknown act {name!r}" + (f"; did you mean {close!r}?" if close else ""))
    return dict(act)


def _call(record: dict[str, Any]) -> ProgramCall:
    return ProgramCall(**{**record, "arguments": tuple(record["arguments"])})
