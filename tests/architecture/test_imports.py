"""Each distribution imports, also inside of functions, only what its installation brings."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(file.parent.name for file in ROOT.glob("uwf-*/pyproject.toml"))
BESIDE = {
    "uwf-agent-hermes": {"toolsets"},  # of Hermes, in whose process it is imported
    "uwf-core": {"pytest"},  # which loads the plugin that replays
    "uwf-export": {"opentelemetry"},  # of its extra
    "uwf-web": {"uwf_eval"},  # has pages if it is installed
}
"""What the program that imports a module has, or a distribution works without."""
PROVIDERS = packages_distributions()


@pytest.mark.parametrize("name", NAMES)
def test_it_imports_only_what_its_installation_brings(name: str) -> None:
    brought = installed_with(name, asked=True)
    foreign = set(imports(ROOT / name / "src")) - BESIDE.get(name, set())
    missing = {each for each in foreign if not providers(each) & brought}
    assert not missing, f"{name}/pyproject.toml does not require them"


def test_an_import_of_a_distribution_that_is_not_required_is_seen() -> None:
    assert not providers("uwf_eval") & installed_with("uwf-export", asked=True)
    assert providers("uwf_core") & installed_with("uwf-export", asked=True)


def imports(source: Path) -> Iterator[str]:
    """The packages of others that the sources name in an import."""
    for file in source.rglob("*.py"):
        if "templates" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.partition(".")[0]


def providers(package: str) -> set[str]:
    """The distributions that bring a package; what is no library counts as brought by uwf-core."""
    if package in sys.stdlib_module_names:
        return {"uwf-core"}
    found = PROVIDERS.get(package, [package])
    return {canonicalize_name(each) for each in (*found, package)}


@cache
def installed_with(name: str, extra: str = "", *, asked: bool = False) -> frozenset[str]:
    """A distribution and what it requires; if it is the one that is `asked` for, what its extras
    name as well.
    """
    found = {canonicalize_name(name)}
    try:
        demands = [Requirement(each) for each in requires(name) or ()]
    except PackageNotFoundError:
        return frozenset(found)
    for demand in demands:
        optional = demand.marker is not None and "extra" in str(demand.marker)
        ours = optional and asked
        if ours or demand.marker is None or demand.marker.evaluate({"extra": extra}):
            found |= {canonicalize_name(demand.name)} if ours else set()
            for each in () if ours else ("", *demand.extras):
                found |= installed_with(demand.name, each)
    return frozenset(found)
