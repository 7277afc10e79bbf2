"""`python isolated.py WHEEL FOLDER`: the wheel alone, in a fresh environment below FOLDER.

What only ever ran from the work tree can lack a declared dependency or a file of data. Here nothing
of the work tree is on the path, HOME is empty, and the folder is not that of the checkout.
Needs no test library: it uses uwf as a user does.
"""

import json
import sys
from pathlib import Path

from environment import CHECKOUT, Environment, finish

WHERE_FROM = """
import json, sys, uwf_core
print(json.dumps({"file": uwf_core.__file__, "path": [entry for entry in sys.path if entry]}))
"""

IMPORT_EVERYTHING = """
import importlib, pkgutil, uwf_core
for module in pkgutil.walk_packages(uwf_core.__path__, "uwf_core."):
    if not module.name.endswith("__main__") and not module.name.startswith({optional!r}):
        importlib.import_module(module.name)
"""

# What only pytest loads.
OPTIONAL = ("uwf_core.replay.pytest",)


def main(wheel: Path, folder: Path) -> int:
    """Try everything; 1 if something is wrong."""
    isolated = Environment(folder, str(wheel))
    return finish([*where_from(isolated), *imports(isolated), *commands(isolated)])


def where_from(isolated: Environment) -> list[str]:
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


def imports(isolated: Environment) -> list[str]:
    """Every module can be imported with what the wheel declares, save those of the extra."""
    walk = IMPORT_EVERYTHING.format(optional=OPTIONAL)
    answer = isolated.run("python", "-W", "error", "-c", walk)
    return [f"a module cannot be imported: {answer.stderr}"] if answer.returncode else []


def commands(isolated: Environment) -> list[str]:
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
