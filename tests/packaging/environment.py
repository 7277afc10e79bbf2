"""A fresh environment with nothing but wheels in it, and a user's empty home."""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def uv() -> str | None:
    """The uv that may be used; None where everything goes through pip."""
    if os.environ.get("NOX_DEFAULT_VENV_BACKEND", "uv") == "venv":
        return None
    return shutil.which("uv") or shutil.which("uv", path=str(CHECKOUT / ".venv" / "bin"))


class Environment:
    """An environment below `folder`, outside of the checkout.

    Args:
        folder: made here.
        requirements: what is installed: paths of wheels, names.
    """

    def __init__(self, folder: Path, *requirements: str) -> None:
        self.folder = folder
        self.bin = folder / "environment" / "bin"
        self.project = folder / "project"
        self.project.mkdir(parents=True)
        (folder / "home").mkdir()
        venv.EnvBuilder(symlinks=True, with_pip=uv() is None).create(self.bin.parent)
        self.add(*requirements)

    def add(self, *requirements: str) -> None:
        """Install something, beside what is there."""
        python = str(self.bin / "python")
        tool = uv()
        command = [tool, "pip", "install", "--python", python] if tool else [python, "-m", "pip"]
        words = [*command, *([] if tool else ["install"]), "--quiet", *requirements]
        subprocess.run(words, check=True, cwd=self.folder, stdin=subprocess.DEVNULL)

    def run(
        self, *command: str, cwd: Path | None = None, seconds: float = 180
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment as a user with nothing set up."""
        return subprocess.run(
            [str(self.bin / command[0]), *command[1:]],
            cwd=cwd or self.project,
            env={
                "PATH": f"{self.bin}:{os.defpath}",
                "HOME": str(self.folder / "home"),
                "PYTEST_DEBUG_TEMPROOT": str(self.folder),
                "PYTHONSAFEPATH": "1",
                "UWF_POSTGRES": "",  # whether its tests load is what is tried
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )

    def faults(self, what: str, *command: str, cwd: Path | None = None) -> list[str]:
        """Run something that must go well: what is wrong, if anything."""
        done = self.run(*command, cwd=cwd)
        print(f"isolated: {what}: exit {done.returncode}", flush=True)
        if done.returncode == 0 and "Traceback" not in done.stderr:
            return []
        return [f"{what}:\n{done.stdout[-6000:]}\n{done.stderr[-3000:]}"]


def finish(faults: Sequence[str]) -> int:
    """Print what is wrong; the exit code that says whether something is."""
    for fault in faults:
        print(f"isolated: FAULT: {fault}", file=sys.stderr)
    return min(len(faults), 1)


def wheel_in(folder: Path, distribution: str) -> Path:
    """The wheel of a distribution among those that were built into `folder`."""
    found = sorted(folder.glob(f"{distribution.replace('-', '_')}-*.whl"))
    assert len(found) == 1, f"{distribution} in {folder}: {found}"
    return found[0]
