"""A whole improvement of the example, offline: from recorded threads to the applied patch."""

import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[3] / "examples" / "improve"


def test_one_command_improves_the_example_and_a_second_call_changes_nothing(tmp_path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {"PATH": path, "HOME": str(tmp_path), "TOPICS": "13"}
    for _ in range(2):
        done = subprocess.run(
            ["sh", EXAMPLE / "run.sh", tmp_path / "place"], env=env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
    note = tmp_path / "place" / "project" / "note.yaml"
    assert "Name the source of each number." in note.read_text()
    kept = note.read_text().replace(" Name the source of each number.", "")
    assert kept == (EXAMPLE / "note.yaml").read_text()
