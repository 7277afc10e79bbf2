"""The places at which tests let the process die: known by name, reached by somebody, and free."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import uwf_core
from uwf_core.process import crash_points

REACH = "from uwf_core.process.crash_points import reach\nfor _ in range(9): reach('commit')"


def crash(wanted: str) -> int:
    env = {**os.environ, crash_points.VARIABLE: wanted}
    return subprocess.run([sys.executable, "-c", REACH], env=env, check=False).returncode


def test_the_process_dies_where_it_is_told_to_and_at_that_time():
    assert crash("commit:9") == -signal.SIGKILL
    assert crash("commit") == -signal.SIGKILL
    assert crash("commit:10") == 0
    assert crash("node:1") == 0


def test_without_the_variable_a_point_is_an_empty_function():
    assert crash_points.reach.__code__.co_names == ()


def test_every_point_that_is_named_is_somewhere_in_the_code_and_the_other_way_round():
    source = "\n".join(
        file.read_text(encoding="utf-8") for file in Path(uwf_core.__file__).parent.rglob("*.py")
    )
    reached = re.findall(
        r'(?:crash_points\.reach\(|\breplaced\([^"]*)"([\w-]+)"(?:\)|, hidden)', source
    )
    assert set(reached) - {"name"} == set(crash_points.POINTS)
