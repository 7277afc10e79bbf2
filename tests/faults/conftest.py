"""Lets `tests.faults` be imported, and builds the disk that can fail, as `python -m` does."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def table(*words: str) -> "subprocess.CompletedProcess[str]":
    """Run the experiments in a process of their own, and wait for their table."""
    env = {**os.environ, "PYTHONWARNINGS": "error"}
    env.pop("UWF_FAULTS_SHIM", None)
    return subprocess.run(
        [sys.executable, "-m", "tests.faults", *words],
        cwd=ROOT, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
