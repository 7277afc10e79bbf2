"""A project folder with its UWF_HOME, and `uwf` called there."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

LAUNCHER = Path(__file__).parent / "launcher.py"


class Place(NamedTuple):
    """A project folder, its UWF_HOME, and the words that a call may name."""

    project: Path
    home: Path
    words: dict[str, str]

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a user with this home."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {**kept, "HOME": str(self.home.parent), "UWF_HOME": str(self.home)}

    def uwf(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the installed command in the project."""
        uwf = Path(sys.executable).with_name("uwf")
        return subprocess.run(
            [uwf, *words],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )

    def document(self, *words: str) -> dict:
        """Run a command that must succeed; its JSON."""
        done = self.uwf(*words, "--format", "json")
        assert done.returncode == 0, f"uwf {' '.join(words)}: {done.stderr}"
        return json.loads(done.stdout)

    def modules_of(self, words: list[str], out: Path) -> tuple[int, set[str], str]:
        """Run `uwf words` in a process of its own: exit code, modules at its end, its stderr."""
        done = subprocess.run(
            [sys.executable, LAUNCHER, out, *words],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert out.exists(), f"the process left without a trace:\n{done.stderr}"
        return done.returncode, set(out.read_text(encoding="utf-8").split()), done.stderr
