#!/usr/bin/env python3
"""Set up everything with one command: `python3 dev.py demo`, `python3 dev.py tests`.

Needs Python 3.11+ and git, no root. Creates `.venv` beside this file, installs nox there and runs
the given nox session (further arguments go to the session). Without a session it lists them all.
The next run takes a second, because it keeps the environment.
"""

from __future__ import annotations  # so that an old Python can say that it is too old

import os
import subprocess
import sys
from pathlib import Path

FLOOR = (3, 11)
ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
PYTHON = ENVIRONMENT / "bin" / "python"
NOX_FLOOR = (2025, 2, 9)
CACHES = ROOT / ".nox" / ".caches"


def main(words: list[str]) -> int:
    """Set up, run `nox -s <words>` and return its exit code."""
    if sys.version_info < FLOOR:
        version = ".".join(map(str, sys.version_info[:3]))
        return give_up(
            f"this is Python {version}, and 3.11 or newer is needed",
            "call it with another one, for example: python3.12 dev.py " + " ".join(words),
        )
    if sys.platform == "win32":
        return give_up("Windows is not supported", "use WSL: it is a Linux for this purpose")
    if not has_nox() and not set_up():
        return 2
    if not words:
        return run_nox(["--list"])
    return run_nox(["--session", words[0], *(["--", *words[1:]] if words[1:] else [])])


def has_nox() -> bool:
    """Whether `.venv` is there and holds a nox that is new enough."""
    if not PYTHON.exists():
        return False
    question = "from importlib.metadata import version; print(version('nox'))"
    answer = subprocess.run([PYTHON, "-I", "-c", question], capture_output=True, text=True)
    if answer.returncode != 0:
        return False
    return tuple(int(part) for part in answer.stdout.split(".")[:3]) >= NOX_FLOOR


def set_up() -> bool:
    """Create `.venv` (or complete a partial one) and install nox in it; prints errors."""
    try:
        import ensurepip  # noqa: F401  (Debian ships Python without it)
        import venv
    except ImportError as error:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        give_up(
            f"this Python cannot make environments: {error}",
            f"on Debian and Ubuntu: apt install python{version}-venv; "
            "or call dev.py with another Python",
        )
        return False
    say(f"making {ENVIRONMENT.name} with Python {sys.version.split()[0]}")
    try:
        venv.EnvBuilder(with_pip=True, symlinks=True, upgrade_deps=False).create(ENVIRONMENT)
    except (OSError, subprocess.CalledProcessError) as error:
        give_up(f"cannot make {ENVIRONMENT}: {error}", "look at the folder's permissions and space")
        return False
    if not pip_install("nox"):
        give_up(
            "cannot install nox",
            "see the lines above; pip needs a network or a package index",
        )
        return False
    if not pip_install("uv"):
        say("no uv for this machine: continuing with pip, which is slower")
    return True


def pip_install(tool: str) -> bool:
    """Install nox or uv into `.venv`, in the version and with the hashes of `requirements/`."""
    command = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--requirement", str(ROOT / "requirements" / f"{tool}.txt")]
    return subprocess.run(command, stdin=subprocess.DEVNULL).returncode == 0


def run_nox(arguments: list[str]) -> int:
    """Run nox with `arguments` from the environment, and return its exit code."""
    environment = dict(os.environ)
    environment.pop("PYTHONPATH", None)
    if not home_is_usable(environment.get("HOME")):
        # uv keeps its cache under HOME; without one it goes beside the environments.
        environment.setdefault("UV_CACHE_DIR", str(CACHES / "uv"))
    if "NOX_DEFAULT_VENV_BACKEND" not in environment and not uv_reaches_the_index(environment):
        environment["NOX_DEFAULT_VENV_BACKEND"] = "venv"
    command = [str(PYTHON), "-m", "nox", "--noxfile", str(ROOT / "noxfile.py"), *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


def home_is_usable(home: str | None) -> bool:
    """Whether `home` names a folder in which caches can be kept."""
    return bool(home) and Path(str(home)).is_dir() and os.access(str(home), os.W_OK)


def uv_reaches_the_index(environment: dict[str, str]) -> bool:
    """Whether uv is there and finds packages: it does not read pip's configuration."""
    uv = ENVIRONMENT / "bin" / "uv"
    if not uv.exists():
        return False
    question = [str(uv), "pip", "install", "--quiet", "--dry-run", "--python", str(PYTHON)]
    answer = subprocess.run(
        [*question, "--reinstall-package", "nox", "nox"],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    return answer.returncode == 0


def say(text: str) -> None:
    """One line of progress on stderr."""
    print(f"dev.py: {text}", file=sys.stderr, flush=True)


def give_up(what: str, fix: str) -> int:
    """Print an error and how to fix it; return the exit code of a wrong call."""
    say(what)
    say(f"fix: {fix}")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
