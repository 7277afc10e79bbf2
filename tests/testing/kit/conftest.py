"""The strangers' distributions, as a folder on the import path, and pytest run on them."""

import atexit
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

STRANGERS = Path(__file__).parent / "strangers"
sys.path.insert(0, str(STRANGERS))

from kit_agents.names import ANNOUNCED_WRONGLY, NAMES  # noqa: E402
from kit_others.names import EXPORTERS, EXTRACTORS, JUDGES, OBSERVERS, TOOLS  # noqa: E402
from kit_stores.names import BREAKS  # noqa: E402

BOUNDED = "uwf-core>=0.0.1,<99"
_PROCESSES = 4
_OBSERVERS = "observers"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the metadata of the strangers' distributions; that of the observers, which
    every run of uwf would notify, lies in a folder of its own.
    """
    folder = tmp_path_factory.mktemp("site")
    agents = dict.fromkeys(NAMES, "kit_agents.plugin")
    agents |= {name: f"kit_agents.plugin_{name}" for name in ANNOUNCED_WRONGLY}
    stores = dict.fromkeys(BREAKS, "kit_stores.plugin")
    groups = {
        "uwf.stores": stores,
        "uwf.extractors": dict.fromkeys(EXTRACTORS, "kit_others.plugin"),
        "uwf.judges": dict.fromkeys(JUDGES, "kit_others.plugin"),
        "uwf.tools": dict.fromkeys(TOOLS, "kit_others.plugin"),
        "uwf.exporters": dict.fromkeys(EXPORTERS, "kit_others.plugin"),
    }
    unbounded = {"unbounded": agents.pop("unbounded")}
    groups["uwf.agents"] = agents
    _distribution(folder, "kit-agents", BOUNDED, groups)
    _distribution(folder, "kit-unbounded", "uwf-core", {"uwf.agents": unbounded})
    observers = {name: f"kit_others.observers:{name}_" for name in OBSERVERS}
    (folder / _OBSERVERS).mkdir()
    _distribution(folder / _OBSERVERS, "kit-observers", BOUNDED, {"uwf.observers": observers})
    return folder


def _distribution(site: Path, name: str, requires: str, groups: dict[str, dict[str, str]]) -> None:
    folder = site / f"{name.replace('-', '_')}-1.0.dist-info"
    folder.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nRequires-Dist: {requires}\n"
    (folder / "METADATA").write_text(metadata)
    lines = []
    for group, entries in groups.items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items())]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="session")
def run_contracts(
    site: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., "Contracts"]:
    """Runs pytest on files of contracts as an author would, with the strangers installed."""

    def start(arguments: tuple[str, ...], **variables: str) -> tuple[Path, subprocess.Popen[bytes]]:
        folder = tmp_path_factory.mktemp("author")
        (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider --tb=line\n")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "uwf_testing.results"]
        command += ["--uwf-results", "results.json", "-c", "pytest.ini", "--rootdir", "."]
        for unused in ("logging", "doctest", "unraisableexception", "threadexception"):
            command += ["-p", f"no:{unused}"]
        command += ["--basetemp", str(_folder_in_memory(folder) / "base")]
        with (folder / "output.txt").open("wb") as output:
            process = subprocess.Popen(
                [*command, *arguments],
                cwd=folder,
                env={**environment(site, observers=_OBSERVERS in arguments[0]), **variables},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        return folder, process

    def run(*arguments: str, parts: int = 1) -> Contracts:
        started = [start(arguments, KIT_PART=f"{part}/{parts}") for part in range(parts)]
        whole = Contracts(0, "", [])
        for folder, process in started:
            process.wait(timeout=280)
            output = (folder / "output.txt").read_text()
            file = folder / "results.json"
            results = json.loads(file.read_text())["results"] if file.exists() else []
            whole.add(process.returncode, output, results)
        return whole

    return run


def _folder_in_memory(folder: Path) -> Path:
    """A folder for the files of thousands of clauses: making them on a disk takes half the time."""
    in_memory = Path("/dev/shm")
    if not os.access(in_memory, os.W_OK):
        return folder
    made = Path(tempfile.mkdtemp(prefix="uwf-kit-", dir=in_memory))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def environment(site: Path, *, observers: bool) -> dict[str, str]:
    """The environment of an author in whose Python the strangers are installed."""
    kept = ("PATH", "HOME", "TMPDIR", "VIRTUAL_ENV", "UWF_TESTS_LONG")
    env = {name: os.environ[name] for name in kept if name in os.environ}
    folders = (STRANGERS, site, site / _OBSERVERS) if observers else (STRANGERS, site)
    path = os.pathsep.join(map(str, folders))
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # the kit needs nobody else's plugins
    return {**env, **alone, "PYTHONPATH": path, "LC_ALL": "C.UTF-8", "PYTHONUTF8": "0"}


@pytest.fixture(scope="session")
def run_batch(
    run_contracts: Callable[..., "Contracts"], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., "Contracts"]:
    """As `run_contracts` for a file of the strangers, in several processes, since many contracts
    wait for what never comes; several workers of xdist run it once.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent

    def run(name: str) -> Contracts:
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            file = shared / f"{name}.json"
            if not file.exists():
                whole = run_contracts(str(STRANGERS / name), parts=_PROCESSES)
                file.write_text(json.dumps(vars(whole)))
        return Contracts(**json.loads(file.read_text()))

    return run


@pytest.fixture
def author_environment(site: Path) -> dict[str, str]:
    """The environment of an author."""
    return environment(site, observers=True)


class Contracts:
    """How pytest ended: exit code, output, and how each clause of each class went."""

    def __init__(self, exit_code: int, output: str, results: list[dict[str, Any]]) -> None:
        self.exit_code, self.output, self.results = exit_code, output, results

    def add(self, exit_code: int, output: str, results: list[dict[str, Any]]) -> None:
        self.exit_code = max(self.exit_code, exit_code)
        self.output += output
        self.results += results

    def clauses(self, cls: str, *outcomes: str) -> set[str]:
        """The clauses of a class with one of these outcomes."""
        return {
            each["clause"]
            for each in self.results
            if each["class"] == cls and each["outcome"] in outcomes
        }
