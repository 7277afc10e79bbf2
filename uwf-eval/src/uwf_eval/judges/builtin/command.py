"""The judge `command`: the exit code of a program, or a number that it prints."""

import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from uwf_core.api import (
    End,
    JudgeReply,
    JudgeRequest,
    ProcessLimits,
    Program,
    ProgramResult,
    Seconds,
    run_program,
)
from uwf_core.api.extract import NO_USAGE
from uwf_eval.judges.context import judge_environment
from uwf_eval.judges.failed import (
    JudgeAborted,
    JudgeFailed,
    JudgeNotStarted,
    check_alone,
    check_end,
)
from uwf_eval.judges.script import GRACE_SECONDS

_CANNOT_RUN = (126, 127)
"""The exit codes of a shell that cannot execute or find a program (POSIX, 2.8.2)."""
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_SHOWN = 2000


@dataclass(frozen=True, kw_only=True)
class CommandOptions:
    """The command and its score.

    Attributes:
        run: the command, required; `sh -c` runs it in a copy of the trial's folder.
        score: `exit`: 1 if the exit code is 0, else 0; `number`: the last match of `pattern` in
            the output, for any exit code but 126 and 127.
        pattern: a regular expression; its first group is the number.
        full, zero: the numbers with the scores 1 and 0; linear between them.
        seconds: the time limit.
        too_slow: the score of a timeout; without it, the trial counts as 0.
    """

    run: str = ""
    score: Literal["exit", "number"] = "exit"
    pattern: str = _NUMBER
    full: float = 100.0
    zero: float = 0.0
    seconds: Seconds = 120.0
    too_slow: float | None = None

    def __post_init__(self) -> None:
        try:
            groups = re.compile(self.pattern).groups
        except re.error as fault:
            raise ValueError(f"pattern is not a regular expression: {fault}") from fault
        if groups < 1:
            raise ValueError("pattern needs a group (…) for the number")
        if self.full == self.zero:
            raise ValueError("full and zero must be different numbers")
        if self.too_slow is not None and not 0 <= self.too_slow <= 1:
            raise ValueError("tooSlow must be a score within 0 and 1")


class CommandJudge:
    """Runs a command. Code of the agent may control its output and exit code; if that is a risk,
    write a judge with its own tests.
    """

    def __init__(self, options: CommandOptions, _context: Any) -> None:
        self._options = options

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """1 or 0 for the exit code, or the position of the number between `zero` and `full`."""
        options = self._options
        if not options.run.strip():
            raise JudgeFailed("it has no command", hint="give the option `run`")
        result = self._run(request)
        output = result.stdout.decode("utf-8", "replace")
        data = {"exitCode": result.exit_code, "output": output[-_SHOWN:]}
        if result.end is End.TIMED_OUT and options.too_slow is not None:
            return JudgeReply(
                score=options.too_slow, data={**data, "tooSlow": True}, usage=NO_USAGE
            )
        _check(result, options)
        if options.score == "exit":
            return JudgeReply(score=float(result.exit_code == 0), data=data, usage=NO_USAGE)
        number = last_number(options.pattern, output)
        place = (number - options.zero) / (options.full - options.zero)
        return JudgeReply(
            score=min(1.0, max(0.0, place)), data={**data, "number": number}, usage=NO_USAGE
        )

    def _run(self, request: JudgeRequest) -> ProgramResult:
        folder = Path(request.cwd)
        if not folder.is_dir():
            raise JudgeFailed(f"the trial's folder {folder} is missing")
        limits = ProcessLimits(total_seconds=self._options.seconds, grace_seconds=GRACE_SECONDS)
        with tempfile.TemporaryDirectory(prefix="uwf-judge-") as place:
            private = Path(place)
            for name in ("home", "tmp"):
                (private / name).mkdir()
            program = Program(
                argv=("/bin/sh", "-c", f"{{ {self._options.run}\n}} 2>&1"),
                cwd=str(folder),
                env=_environment(private),
            )
            return run_program(program, limits, cancel=request.cancel)


def _environment(private: Path) -> dict[str, str]:
    """The environment of judges without uwf's variables, because code of the agent may run."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("UWF_")}
    programs = Path(sys.executable).parent
    return judge_environment(env, private=private, programs=programs, options={})


def last_number(pattern: str, output: str) -> float:
    """The last number that matches a pattern.

    Raises:
        JudgeAborted: no number matches.
    """
    found = [match[1] for match in re.finditer(pattern, output) if match[1]]
    try:
        return float(found[-1])
    except IndexError:
        raise JudgeAborted(
            f"the pattern {pattern!r} matches nothing in the output of the command",
            hint=f"it printed: {output[-200:].strip()!r}",
        ) from None
    except ValueError as fault:
        raise JudgeAborted(f"the pattern {pattern!r} finds {found[-1]!r}, not a number") from fault


def _check(result: ProgramResult, options: CommandOptions) -> None:
    hint = "increase `seconds`, or set a score with `tooSlow`"
    check_end(result, "the command", seconds=options.seconds, hint=hint)
    if options.score == "number":
        check_alone(result, "the command")
    if result.exit_code in _CANNOT_RUN:  # its message holds the number of a line
        output = result.stdout.decode("utf-8", "replace").strip()[-200:]
        raise JudgeNotStarted(f"cannot run the command (exit code {result.exit_code}): {output}")
