"""Run the project's tests before and after the demo, independent of its agents."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

from uwf_core.process.cancel import Cancel
from uwf_core.process.program import End, ProcessLimits, Program, run_program

_SECONDS = 60.0


class Tests(TypedDict):
    """The result of the tests; `failed` counts failures and errors."""

    green: bool
    ran: int
    failed: int


def run_tests(project: Path, env: Mapping[str, str], cancel: Cancel) -> Tests:
    """Run the unittest suite in `project`. Green: some ran, and none failed.

    Raises:
        AgentFailure: it cannot be started, or was interrupted.
    """
    program = Program(
        argv=(sys.executable, "-B", "-m", "unittest"),  # -B: no stale byte code
        cwd=str(project),
        env=env,
    )
    result = run_program(program, ProcessLimits(total_seconds=_SECONDS), cancel=cancel)
    output = result.stderr.decode("utf-8", "replace")
    ran = re.search(r"^Ran (\d+) test", output, re.MULTILINE)
    failed = re.findall(r"(?:failures|errors)=(\d+)", output)
    count = int(ran[1]) if ran else 0
    ended_well = result.end is End.EXITED and result.exit_code == 0
    return {"green": ended_well and count > 0, "ran": count, "failed": sum(map(int, failed))}
