"""`python -m uwf_testing NAME`: the result of a plugin's contract, as Markdown for its README.

Runs the contract in a child process by pytest: the author's own tests with `--tests PATH`, else
the clauses that need no fixtures of the author. Exit code 0: nothing fails; 1: a clause fails;
2: unknown plugin, or no test of it was found.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from uwf_core import __version__
from uwf_core.api.agent import CAPABILITIES
from uwf_core.errors import ExitCode, PluginError, UwfError
from uwf_core.plugins.plugins import Plugins
from uwf_core.process.own_python import own_python
from uwf_core.stores.open import HOUSE
from uwf_testing.contract import KIT_VERSION
from uwf_testing.new_plugin import KINDS as NEW
from uwf_testing.new_plugin import group_of
from uwf_testing.table import Subject, held, markdown

KINDS = [kind for kind in NEW if kind != "command"]
CAPABLE: Mapping[str, Collection[str]] = {"agent": CAPABILITIES, "store": ("persistent", "shared")}
_FIXTURE = "    @pytest.fixture\n    def {kind}(self):\n        return {name!r}\n"
_STORE = (
    "    spec = next((each for each in HOUSE if each.name == {name!r}), None)\n"
    "    spec = spec or Plugins().record(STORES, {name!r})\n"
    "    url = {name!r} + ':kit'\n"
)
_LEAST = """\
import pytest
from uwf_core.plugins.plugins import Plugins
from uwf_core.plugins.scan import STORES
from uwf_core.stores.open import HOUSE
from uwf_testing.{module} import {contract}


class TestContract({contract}):
{body}"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and return the exit code."""
    chosen = _parser().parse_args(arguments)
    try:
        kind = chosen.kind or _kind_of(chosen.name)
        results, output = _results(chosen.name, kind, chosen.tests)
        if not results:
            raise _nothing_tried(chosen.name, kind, output)
        found = held(_contract(kind), results)
        subject = _subject(chosen.name, kind, results[0]["declared"])
    except UwfError as error:
        hint = f"\nhint: {error.hint}" if error.hint else ""
        print(f"error: {error}{hint}", file=sys.stderr)
        return ExitCode.USAGE
    print(markdown(subject, found), end="")
    failing = [each for each in found if each.outcome == "fails"]
    if failing:
        print(output, file=sys.stderr)
    return ExitCode.FAILED if failing else ExitCode.DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m uwf_testing",
        description="Run the contract of a plugin; print the result as Markdown for its README.",
        epilog="example: python -m uwf_testing echo --tests tests/",
    )
    parser.add_argument("name", metavar="NAME", help="name of the plugin's entry point")
    parser.add_argument(
        "--kind",
        choices=KINDS,
        help="kind of the plugin, if plugins of several kinds have the name",
    )
    parser.add_argument(
        "--tests",
        metavar="PATH",
        nargs="+",
        help="your tests of the plugin; without them, clauses that need a peer are skipped",
    )
    return parser


def _kind_of(name: str) -> str:
    """The kind of the plugin with this name.

    Raises:
        PluginError: no plugin has the name, or plugins of several kinds have it.
    """
    plugins = Plugins()
    found = [
        kind
        for kind in KINDS
        if any(each.found.name == name for each in plugins.list((group_of(kind),)))
        or (kind == "store" and any(spec.name == name for spec in HOUSE))
    ]
    if len(found) == 1:
        return found[0]
    if found:
        kinds = " and ".join(found)
        raise PluginError(f"{name!r} is the name of {kinds}", hint="select one with --kind")
    known = sorted({each.found.name for each in plugins.list([*map(group_of, KINDS)])})
    raise PluginError(
        f"no plugin with a contract has the name {name!r} (kinds: {', '.join(KINDS)})",
        hint=f"installed: {', '.join(known)}; a command of the configuration needs --kind agent "
        "and --tests",
    )


def _results(name: str, kind: str, tests: Sequence[str] | None) -> tuple[list[Any], str]:
    """The result of each clause of this plugin, and the output of pytest."""
    with tempfile.TemporaryDirectory(prefix="uwf-kit-") as folder:
        file = Path(folder, "results.json")
        command = [*own_python("pytest"), "-q", "--tb=short"]
        command += ["-p", "uwf_testing.results", "--uwf-results", str(file)]
        # In the usual place pytest deletes, at its end, what all earlier runs of it have left.
        command += ["--basetemp", str(Path(folder, "temporary"))]
        if tests is None:
            tests = [_least_test(name, kind, Path(folder))]
            command += ["-c", str(Path(folder, "pytest.ini")), "--rootdir", folder]
        done = subprocess.run(
            [*command, *tests],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        document = json.loads(file.read_text("utf-8")) if file.exists() else {"results": []}
    found = [each for each in document["results"] if each["kind"] == kind]
    return [each for each in found if each["subject"] == name], done.stdout


def _least_test(name: str, kind: str, folder: Path) -> str:
    """Write a test that subclasses the contract for this name and sets nothing else."""
    body = (_STORE if kind == "store" else _FIXTURE).format(kind=kind, name=name)
    text = _LEAST.format(module=f"{kind}_contract", contract=_class_of(kind), body=body)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n", "utf-8")
    file = folder / "test_contract.py"
    file.write_text(text, encoding="utf-8")
    return str(file)


def _nothing_tried(name: str, kind: str, output: str) -> PluginError:
    last = "\n".join(output.strip().splitlines()[-20:])
    return PluginError(
        f"no clause of the {kind} contract ran for {name!r}; output of pytest:\n{last}",
        hint=f"the tests need a subclass of {_class_of(kind)} whose fixture returns {name!r}",
    )


def _contract(kind: str) -> Any:
    return getattr(import_module(f"uwf_testing.{kind}_contract"), _class_of(kind))


def _class_of(kind: str) -> str:
    return f"{kind.capitalize()}Contract"


def _subject(name: str, kind: str, declared: Sequence[str]) -> Subject:
    """The subject of the table; a command of the configuration has no distribution."""
    found = [each.found for each in Plugins().list((group_of(kind),)) if each.found.name == name]
    if found:
        origin = f"{found[0].distribution} {found[0].version}"
    else:
        origin = f"uwf-core {__version__}" if kind == "store" else "a command"
    made_with = f"kit {KIT_VERSION}, uwf-core {__version__}"
    return Subject(kind, name, origin, declared, CAPABLE.get(kind, ()), made_with)


if __name__ == "__main__":
    sys.exit(main())
