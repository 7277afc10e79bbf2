"""`python new_plugins.py WHEELS FOLDER [KIND…]`: what `uwf plugin new` writes passes its tests.

Each kind is written by the installed command, built as a wheel, installed, and its tests are run
against that wheel. All kinds share one environment, which is the slowest part of it.
"""

import subprocess
import sys
from pathlib import Path

from environment import Environment, finish, uv, wheel_in, with_extras

CORE = "uwf-core"
KINDS = ("agent", "store", "extractor", "judge", "observer", "command")
PYTEST = ("python", "-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:cacheprovider")


def main(wheels: Path, folder: Path, kinds: tuple[str, ...]) -> int:
    """Try every kind; 1 if something is wrong."""
    core = with_extras(wheel_in(wheels, CORE), CORE, "testing")
    environment = Environment(folder, core, "hatchling", "pip")
    faults = []
    for kind in kinds:
        written = environment.project / f"uwf-{kind}-my-{kind}"
        faults += environment.faults(f"new {kind}", "uwf", "plugin", "new", kind, f"my-{kind}")
        if not written.is_dir():
            continue
        wheel = built(environment, written)
        install(environment, wheel)
        faults += environment.faults(f"new {kind}: check", "uwf", "plugin", "check", f"my-{kind}")
        # The wheel is what is tested: the sources are out of the way.
        (written / "src").rename(written / "not-installed")
        faults += environment.faults(f"new {kind}: its tests", *PYTEST, cwd=written)
    return finish(faults)


def built(environment: Environment, source: Path) -> Path:
    """The wheel of a distribution, built by its own backend."""
    out = source / "dist"
    build = f"import os; os.chdir({str(source)!r}); import hatchling.build as b; "
    done = environment.run("python", "-c", f"{build}print(b.build_wheel({str(out)!r}))")
    assert done.returncode == 0, done.stderr
    return out / done.stdout.strip().splitlines()[-1]


def install(environment: Environment, wheel: Path) -> None:
    """Install a wheel beside what is there."""
    python = str(environment.bin / "python")
    tool = uv()
    command = (
        [tool, "pip", "install", "--python", python] if tool else [python, "-m", "pip", "install"]
    )
    subprocess.run([*command, "--quiet", "--no-deps", str(wheel)], check=True)


if __name__ == "__main__":
    where, below = (Path(word).resolve() for word in sys.argv[1:3])
    sys.exit(main(where, below, tuple(sys.argv[3:]) or KINDS))
