"""`python distributions.py WHEELS FOLDER [NAME…]`: each distribution as strangers install it.

Each from wheels alone in an environment of its own: every module of it is imported with what it
declares and nothing else, and uwf checks its plugins; then all of them together. The quick tests of
the examples run there too, and in the long form (`--long`) those of all: a merge has run them in
`tests`, and `test_imports.py` finds what nothing declares. WHEELS has what was built of this
repository. The core is the one of this checkout; the floor of the declared range is tried as soon
as there is a release to try.
"""

import json
import os
import re
import shutil
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from environment import CHECKOUT, Environment, finish, wheel_in

LONG = "UWF_TESTS_LONG" in os.environ
CORE, KITS = "uwf-core", "uwf-testing"
AT_ONCE = 2
PYTEST = ("python", "-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:cacheprovider")


IMPORT_EVERYTHING = """
import importlib, pkgutil
package = importlib.import_module({package!r})
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    if not module.name.endswith("__main__") and module.name not in {optional!r}:
        importlib.import_module(module.name)
"""
OPTIONAL = ("uwf_export.otel_sdk", "uwf_improve.search.gepa_search", "uwf_worker.metrics")
"""What extras (`otel`, `gepa`, `metrics`) bring a library for."""


def main(wheels: Path, folder: Path, names: tuple[str, ...]) -> int:
    """Try everything; 1 if something is wrong."""
    sources = [*sorted(CHECKOUT.glob("uwf-*/")), *sorted(CHECKOUT.glob("examples/uwf-*/"))]
    others = [path for path in sources if path.name != CORE and (path / "pyproject.toml").exists()]
    chosen = [path for path in others if not names or path.name in names]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = threads.map(lambda each: alone(each, wheels, folder / each.name), chosen)
        faults = [fault for each in found for fault in each]
    if not names:
        faults += together(others, wheels, folder / "together")
    print("isolated: the floor of each range (uwf-core 0.1): there is no release yet", flush=True)
    return finish(faults)


def alone(source: Path, wheels: Path, folder: Path) -> list[str]:
    """One distribution: its metadata, its modules, its plugins, perhaps its quick tests."""
    name = source.name
    needed = (CORE, *dependencies_among_ours(source), name)
    environment = Environment(folder, *(str(wheel_in(wheels, each)) for each in needed))
    faults = demand_faults(source)
    everything = IMPORT_EVERYTHING.format(package=name.replace("-", "_"), optional=OPTIONAL)
    faults += environment.faults(f"{name}: imports", "python", "-W", "error", "-c", everything)
    if has_plugins(source):
        faults += environment.faults(f"{name}: check", "uwf", "plugin", "check", name)
    if LONG or source.parent.name == "examples":
        faults += faults_of_tests(source, wheels, environment)
    return faults


def faults_of_tests(source: Path, wheels: Path, environment: Environment) -> list[str]:
    """What its quick tests find in its environment."""
    name, tests = source.name, tests_of(source)
    shutil.copytree(tests, environment.project / "tests", ignore=shutil.ignore_patterns("__py*"))
    # What tests of recordings share with those of real programs and protocols lies beside them.
    for shared in ("real_agents", "acp"):
        shutil.copytree(CHECKOUT / "tests" / shared, environment.project / shared)
    quick = quick_tests(environment.project / "tests")
    if not quick:
        return [f"{name}: there is no test of it in {tests}"]
    (environment.project / "pytest.ini").write_text("[pytest]\n")
    kits = (*dependencies_among_ours(CHECKOUT / KITS), KITS)
    environment.add(*(str(wheel_in(wheels, each)) for each in kits))
    return environment.faults(f"{name}: its tests", *PYTEST, *map(str, quick))


def quick_tests(folder: Path) -> list[Path]:
    """The contract tests; of an adapter whose contract needs a real program (`nox -s real_agents`)
    those that play recordings of it.
    """
    return sorted(folder.rglob("test_contract*.py")) or sorted(folder.rglob("test_*.py"))


def tests_of(source: Path) -> Path:
    """Where the tests of a distribution are: its own folder, or that of its part in `tests`."""
    if (source / "tests").is_dir():
        return source / "tests"
    part = (
        source.name.removeprefix("uwf-")
        .removeprefix("agent-")
        .removeprefix("store-")
        .replace("-", "_")
    )
    return CHECKOUT / "tests" / part


def demand_faults(source: Path) -> list[str]:
    """The range of the core that it demands has a floor and a ceiling and pins nothing."""
    demands = [each for each in project_of(source)["dependencies"] if each.startswith(CORE)]
    right = len(demands) == 1 and ">=" in demands[0] and ",<" in demands[0]
    return [] if right else [f"{source.name} demands {demands or 'no uwf-core at all'}"]


def dependencies_among_ours(source: Path) -> list[str]:
    """The distributions of this repository that it needs beside the core, those of others first."""
    names = [re.split(r"[^\w-]", each)[0] for each in project_of(source)["dependencies"]]
    ours = [name for name in names if name.startswith("uwf-") and name != CORE]
    below = [each for name in ours for each in dependencies_among_ours(CHECKOUT / name)]
    return list(dict.fromkeys([*below, *ours]))


def has_plugins(source: Path) -> bool:
    """Whether it announces anything to uwf; the test kits do not."""
    return "entry-points" in project_of(source)


def project_of(source: Path) -> dict[str, Any]:
    """The table `project` of its pyproject.toml."""
    document = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))
    project: dict[str, Any] = document["project"]
    return project


def together(sources: list[Path], wheels: Path, folder: Path) -> list[str]:
    """All of them in one environment: every plugin is ready, and nobody claims another's name."""
    every = [str(wheel_in(wheels, path.name)) for path in sources]
    environment = Environment(folder, str(wheel_in(wheels, CORE)), *every)
    faults = environment.faults("together: doctor", "uwf", "doctor")
    listed = json.loads(environment.run("uwf", "plugin", "list").stdout)["plugins"]
    faults += [f"together: {each}" for each in listed if each["status"] != "ready"]
    missing = {path.name for path in sources if has_plugins(path)} - {
        each["distribution"] for each in listed
    }
    faults += [f"together: no plugin of {name} is found" for name in sorted(missing)]
    return faults + replay_faults(environment)


def replay_faults(environment: Environment) -> list[str]:
    """A stranger's project has a recorded thread among its tests, and pytest replays it."""
    environment.add("pytest")
    (environment.project / "recorded").mkdir()
    environment.run("uwf", "workflow", "new", "hello")
    environment.run("uwf", "run", "./hello.yaml", "-p", "Greet", "--agent", "human")
    answer = ("--status", "done", "--answer", "summary=Hello")
    environment.run("uwf", "thread", "resume", "@last", *answer)
    bundle = "recorded/hello.thread"
    faults = environment.faults("replay: export", "uwf", "thread", "export", "@last", "-o", bundle)
    replay = (*PYTEST, "-p", "uwf_core.replay.pytest", "recorded")
    return faults + environment.faults("replay: pytest", *replay)


if __name__ == "__main__":
    where, below = (Path(word).resolve() for word in sys.argv[1:3])
    sys.exit(main(where, below, tuple(sys.argv[3:])))
