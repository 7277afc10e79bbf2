"""A short command ends before the search for cycles, which takes as long as forty modules."""

import subprocess
import sys

import pytest

LAUNCHER = """\
import atexit, gc, sys
out, *sys.argv[1:] = sys.argv[1:]
searches = []
DEFAULT = gc.get_threshold()
gc.callbacks.append(lambda phase, _: searches.append(phase) if gc.get_threshold() != DEFAULT else 0)
atexit.register(lambda: open(out, "w").write(f"{len(searches)} {gc.get_threshold() != DEFAULT}"))
from uwf_core.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("words", ["thread list", "thread exec {thread}"])
def test_a_short_command_searches_for_no_cycles(words, place, tmp_path):
    out = tmp_path / "searches"
    done = subprocess.run(
        [sys.executable, "-c", LAUNCHER, out, *words.format(**place.words).split()],
        cwd=place.project,
        env=place.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert out.read_text(encoding="utf-8") == "0 True"
