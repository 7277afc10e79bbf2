"""`.venv/bin/python requirements/lock.py`: write the versions and hashes of this folder.

They fit the requirements of everything here on Python 3.11 to 3.14, on Linux and macOS. Versions
that still fit stay; `--upgrade` takes newer ones, `--upgrade-package NAME` one. Needs nox and uv,
which `dev.py` installs.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parents[1]
LOCK = "requirements/lock.txt"
SUPPORTED = (
    " ; python_full_version < '3.15' and (sys_platform == 'darwin' or sys_platform == 'linux')"
)
"""The marker of what is needed everywhere."""


def main(options: list[str]) -> None:
    """Write `lock.txt`, and of it what `dev.py` itself installs."""
    document = nox.project.load_toml(ROOT / "pyproject.toml")
    groups = document["dependency-groups"]
    everything = {*nox.project.dependency_groups(document, *groups), *of_distributions()}
    resolve((each for each in everything if not each.startswith("uwf-")), LOCK, *options)
    for tool in ("nox", "uv"):
        wanted = nox.project.dependency_groups(document, tool)
        resolve(wanted, f"requirements/{tool}.txt", "--constraint", LOCK)


def of_distributions() -> set[str]:
    """What the distributions and their extras require."""
    found: set[str] = set()
    for file in (*ROOT.glob("uwf-*/pyproject.toml"), *ROOT.glob("examples/uwf-*/pyproject.toml")):
        document = nox.project.load_toml(file)
        found.update(document["build-system"]["requires"], document["project"]["dependencies"])
        for extra in document["project"].get("optional-dependencies", {}).values():
            found.update(extra)
    return found


def resolve(requirements: Iterable[str], name: str, *options: str) -> None:
    """Write the file `name` with a version of everything that these requirements need."""
    command = [str(Path(sys.executable).with_name("uv")), "pip", "compile", "--universal"]
    command += ["--python-version", "3.11", "--generate-hashes", "--quiet", "--no-annotate"]
    command += ["--no-header", "--no-emit-index-url", "--no-emit-find-links", *options]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as wanted:
        wanted.write("\n".join(sorted(requirements)))
        wanted.flush()
        subprocess.run([*command, wanted.name, "--output-file", name], cwd=ROOT, check=True)
    file = ROOT / name
    file.write_text(file.read_text("utf-8").replace(SUPPORTED, ""), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
