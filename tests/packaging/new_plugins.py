"""`python new_plugins.py WHEELS FOLDER [KIND…]`: what `uwf plugin new` writes passes its tests.

Each kind is written by the installed command, built as a wheel, installed, and its tests are run
against that wheel. All kinds share one environment, which is the slowest part of it.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from environment import Environment, finish, wheel_in

AT_ONCE = 2
KINDS = (
    *("agent", "store", "extractor", "judge", "tool", "exporter"),
    *("model", "observer", "command"),
)
PYTEST = ("python", "-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:cacheprovider")


def main(wheels: Path, folder: Path, kinds: tuple[str, ...]) -> int:
    """Try every kind; 1 if something is wrong."""
    ours = (str(wheel_in(wheels, each)) for each in ("uwf-core", "uwf-llm", "uwf-testing"))
    environment = Environment(folder, *ours, "hatchling", "pip")
    with ThreadPoolExecutor(AT_ONCE) as threads:
        made = list(threads.map(lambda kind: written(environment, kind), kinds))
        ready = {kind: str(wheel) for kind, (wheel, _) in zip(kinds, made, strict=True) if wheel}
        # All at once: nobody's tests shall meet another one half installed.
        environment.add("--no-deps", *ready.values())
        tried = list(threads.map(lambda kind: checked(environment, kind), ready))
    faults = [fault for _, found in made for fault in found]
    faults += [fault for found in tried for fault in found]
    return finish(faults)


def written(environment: Environment, kind: str) -> tuple[Path | None, list[str]]:
    """What the command writes, as a wheel; None and why where there is none."""
    faults = environment.faults(f"new {kind}", "uwf", "plugin", "new", kind, f"my-{kind}")
    source = environment.project / f"uwf-{kind}-my-{kind}"
    return (built(environment, source) if source.is_dir() else None), faults


def checked(environment: Environment, kind: str) -> list[str]:
    """What is wrong with the installed wheel of a kind."""
    source = environment.project / f"uwf-{kind}-my-{kind}"
    faults = environment.faults(f"new {kind}: check", "uwf", "plugin", "check", f"my-{kind}")
    # The wheel is what is tested: the sources are out of the way.
    (source / "src").rename(source / "not-installed")
    return faults + environment.faults(f"new {kind}: its tests", *PYTEST, cwd=source)


def built(environment: Environment, source: Path) -> Path:
    """The wheel of a distribution, built by its own backend."""
    out = source / "dist"
    build = f"import os; os.chdir({str(source)!r}); import hatchling.build as b; "
    done = environment.run("python", "-c", f"{build}print(b.build_wheel({str(out)!r}))")
    assert done.returncode == 0, done.stderr
    return out / done.stdout.strip().splitlines()[-1]


if __name__ == "__main__":
    where, below = (Path(word).resolve() for word in sys.argv[1:3])
    sys.exit(main(where, below, tuple(sys.argv[3:]) or KINDS))
