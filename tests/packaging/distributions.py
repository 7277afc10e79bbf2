"""`python distributions.py WHEELS FOLDER`: each distribution as strangers install it.

Each from wheels alone in an environment of its own, with its own tests; then all of them together.
WHEELS has what was built of this repository. The core is the one of this checkout; the floor of the
declared range is tried as soon as there is a release to try.
"""

import json
import shutil
import sys
import tomllib
from pathlib import Path

from environment import CHECKOUT, Environment, finish, wheel_in, with_extras

CORE = "uwf-core"
PYTEST = ("python", "-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:cacheprovider")


def main(wheels: Path, folder: Path) -> int:
    """Try everything; 1 if something is wrong."""
    faults = []
    sources = [*sorted(CHECKOUT.glob("uwf-*/")), *sorted(CHECKOUT.glob("examples/uwf-*/"))]
    plugins = [path for path in sources if path.name != CORE and (path / "pyproject.toml").exists()]
    for source in plugins:
        faults += alone(source, wheels, folder / source.name)
    faults += together(plugins, wheels, folder / "together")
    print("isolated: the floor of each range (uwf-core 0.1): there is no release yet", flush=True)
    return finish(faults)


def alone(source: Path, wheels: Path, folder: Path) -> list[str]:
    """One distribution: its metadata, its plugins, its own tests where it brings some."""
    name = source.name
    core = with_extras(wheel_in(wheels, CORE), CORE, "testing")
    environment = Environment(folder, core, str(wheel_in(wheels, name)))
    faults = demand_faults(source)
    faults += environment.faults(f"{name}: check", "uwf", "plugin", "check", name)
    if (source / "tests").is_dir():
        shutil.copytree(source / "tests", environment.project / "tests")
        shutil.copy(source / "pyproject.toml", environment.project)
        faults += environment.faults(f"{name}: its tests", *PYTEST, "tests")
    return faults


def demand_faults(source: Path) -> list[str]:
    """The range of the core that it demands has a floor and a ceiling and pins nothing."""
    project = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))["project"]
    demands = [each for each in project["dependencies"] if each.startswith(CORE)]
    right = len(demands) == 1 and ">=" in demands[0] and ",<" in demands[0]
    return [] if right else [f"{source.name} demands {demands or 'no uwf-core at all'}"]


def together(plugins: list[Path], wheels: Path, folder: Path) -> list[str]:
    """All of them in one environment: every plugin is ready, and nobody claims another's name."""
    every = [str(wheel_in(wheels, path.name)) for path in plugins]
    environment = Environment(folder, str(wheel_in(wheels, CORE)), *every)
    faults = environment.faults("together: doctor", "uwf", "doctor")
    listed = json.loads(environment.run("uwf", "plugin", "list").stdout)["plugins"]
    faults += [f"together: {each}" for each in listed if each["status"] != "ready"]
    missing = {path.name for path in plugins} - {each["distribution"] for each in listed}
    return faults + [f"together: no plugin of {name} is found" for name in sorted(missing)]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
