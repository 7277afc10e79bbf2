"""`python isolated.py WHEEL FOLDER`: the wheel alone, in a fresh environment below FOLDER.

What only ever ran from the work tree can lack a declared dependency or a file of data. Here nothing
of the work tree is on the path, HOME is empty, and the folder is not that of the checkout.
Needs no test library: it uses uwf as a user does.
"""

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]

WHERE_FROM = """
import json, sys, uwf_core
print(json.dumps({"file": uwf_core.__file__, "path": [entry for entry in sys.path if entry]}))
"""

IMPORT_EVERYTHING = """
import importlib, pkgutil, uwf_core
for module in pkgutil.walk_packages(uwf_core.__path__, "uwf_core."):
    if not module.name.endswith("__main__") and not module.name.startswith("{kit}"):
        importlib.import_module(module.name)
"""

# Modules for authors of plugins, which need the test libraries that those authors have.
TEST_KIT = "uwf_core.testing"


class Isolated:
    """A fresh environment with a wheel in it, and a user's empty home."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        self.folder = folder
        self.environment_folder = folder / "environment"
        self.python = self.environment_folder / "bin" / "python"
        self.project = folder / "project"
        self.project.mkdir(parents=True)
        (folder / "home").mkdir()
        self._install(wheel)

    def _install(self, wheel: Path) -> None:
        uv = shutil.which("uv") or shutil.which("uv", path=str(CHECKOUT / ".venv" / "bin"))
        backend = os.environ.get("NOX_DEFAULT_VENV_BACKEND", "uv")
        if uv and backend != "venv":
            venv.EnvBuilder(symlinks=True).create(self.environment_folder)
            command = [uv, "pip", "install", "--quiet", "--python", str(self.python), str(wheel)]
        else:
            venv.EnvBuilder(symlinks=True, with_pip=True).create(self.environment_folder)
            command = [str(self.python), "-m", "pip", "install", "--quiet", str(wheel)]
        subprocess.run(command, check=True, cwd=self.folder)

    def run(self, *command: str, seconds: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment as a user with nothing set up."""
        return subprocess.run(
            [str(self.environment_folder / "bin" / command[0]), *command[1:]],
            cwd=self.project,
            env={
                "PATH": f"{self.environment_folder / 'bin'}:{os.defpath}",
                "HOME": str(self.folder / "home"),
                "PYTHONSAFEPATH": "1",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )


def main(wheel: Path, folder: Path) -> int:
    """Try everything; the number of things that are wrong."""
    isolated = Isolated(wheel, folder)
    faults = [*where_from(isolated), *imports(isolated), *commands(isolated)]
    for fault in faults:
        print(f"isolated: {fault}", file=sys.stderr)
    return min(len(faults), 1)


def where_from(isolated: Isolated) -> list[str]:
    """The package must come from the wheel, and nothing of the checkout may be importable."""
    answer = isolated.run("python", "-c", WHERE_FROM)
    if answer.returncode:
        return [f"uwf_core cannot be imported: {answer.stderr}"]
    told = json.loads(answer.stdout)
    faults = []
    if "site-packages" not in told["file"]:
        faults.append(f"uwf_core comes from {told['file']}")
    for entry in told["path"]:
        inside = Path(entry).resolve()
        if inside.is_relative_to(CHECKOUT) and not inside.is_relative_to(isolated.folder):
            faults.append(f"the checkout is importable through {entry}")
    return faults


def imports(isolated: Isolated) -> list[str]:
    """Every module can be imported with what the wheel declares, save the test kit's."""
    walk = IMPORT_EVERYTHING.format(kit=TEST_KIT)
    answer = isolated.run("python", "-W", "error", "-c", walk)
    return [f"a module cannot be imported: {answer.stderr}"] if answer.returncode else []


def commands(isolated: Isolated) -> list[str]:
    """What a new user types first."""
    faults = []
    for words, wanted in [
        (["--version"], "uwf "),
        (["--help"], "Usage"),
        (["workflow", "list", "--format", "json"], "workflows"),
        (["doctor", "--format", "json"], ""),
        (["demo"], "completed"),
    ]:
        answer = isolated.run("uwf", *words)
        print(f"isolated: uwf {' '.join(words)}: exit {answer.returncode}")
        if answer.returncode or wanted not in answer.stdout or "Traceback" in answer.stderr:
            faults.append(f"uwf {' '.join(words)}:\n{answer.stdout}\n{answer.stderr}")
    return faults


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
