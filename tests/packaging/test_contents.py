"""What is in a wheel and in an sdist, for each distribution. Run by `nox -s wheels`."""

import configparser
import os
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
DIST = Path(os.environ.get("UWF_DIST", ""))
FOLDERS = sorted(path.parent for path in ROOT.glob("uwf-*/pyproject.toml"))
STRAYS = ("tests", "test_", "conftest", ".nox", "__pycache__", ".pyc", ".env", ".db")


def pytest_generate_tests(metafunc):
    if "folder" in metafunc.fixturenames:
        metafunc.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def module_of(folder: Path) -> str:
    return folder.name.replace("-", "_")


def project_of(folder: Path) -> dict:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def only(pattern: str) -> Path:
    found = sorted(DIST.glob(pattern))
    assert len(found) == 1, f"{pattern}: {found}"
    return found[0]


@pytest.fixture
def wheel(folder):
    with zipfile.ZipFile(only(f"{module_of(folder)}-*.whl")) as archive:
        yield archive


@pytest.fixture
def sdist(folder):
    with tarfile.open(only(f"{module_of(folder)}-*.tar.gz")) as archive:
        yield archive


def read(wheel: zipfile.ZipFile, name: str) -> bytes:
    """A file of the wheel's `.dist-info`."""
    path = next(each for each in wheel.namelist() if each.endswith(f".dist-info/{name}"))
    return wheel.read(path)


def test_every_source_file_is_in_the_wheel(folder, wheel):
    """Code and data alike: schemas, starters, the demo's project."""
    source = folder / "src"
    wanted = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted - set(wheel.namelist()) == set()


def test_nothing_is_in_the_wheel_that_is_no_source(folder, wheel):
    module = module_of(folder)
    outside = [
        name
        for name in wheel.namelist()
        if not name.startswith(f"{module}/") and ".dist-info/" not in name
    ]
    assert outside == []


def test_no_test_and_no_leftover_is_in_the_wheel(wheel):
    """What a demo brings as its own project is no test of ours."""
    unknown_groups = [
        name
        for name in wheel.namelist()
        if "demo" not in name and any(part.startswith(STRAYS[:4]) for part in name.split("/"))
    ]
    unknown_groups += [name for name in wheel.namelist() if name.endswith(STRAYS[5:])]
    assert unknown_groups == []


def test_users_get_the_types(folder, wheel):
    assert f"{module_of(folder)}/py.typed" in wheel.namelist()


def test_the_licence_is_in_wheel_and_sdist(wheel, sdist):
    assert b"MIT License" in read(wheel, "licenses/LICENSE")
    assert any(name.endswith("/LICENSE") for name in sdist.getnames())


def test_the_metadata_is_what_pyproject_says(folder, wheel):
    project = project_of(folder)
    metadata = Metadata.from_email(read(wheel, "METADATA"))
    assert metadata.name == project["name"]
    assert str(metadata.requires_python) == ">=3.11"
    assert metadata.license_expression == "MIT"
    assert metadata.description
    assert metadata.description.strip().startswith(f"# {project['name']}")
    assert metadata.project_urls == project["urls"]
    declared = {str(Requirement(each)) for each in project["dependencies"]}
    required = {str(each) for each in metadata.requires_dist or [] if each.marker is None}
    assert required == declared


def test_no_dependency_is_pinned(folder):
    """An exact pin makes two distributions impossible to install together."""
    pinned = [each for each in project_of(folder)["dependencies"] if "==" in each]
    assert pinned == []


def test_commands_and_plugins_are_announced(folder, wheel):
    """And each announced module is there."""
    project = project_of(folder)
    parser = configparser.ConfigParser(delimiters=("=",))
    parser.optionxform = str  # names are told apart by case
    if any(each.endswith(".dist-info/entry_points.txt") for each in wheel.namelist()):
        parser.read_string(read(wheel, "entry_points.txt").decode())
    announced = {section: dict(parser[section]) for section in parser.sections()}
    commands = {"console_scripts": project["scripts"]} if "scripts" in project else {}
    assert announced == {**commands, **project.get("entry-points", {})}
    names = set(wheel.namelist())
    for entries in announced.values():
        for target in entries.values():
            module = target.partition(":")[0].replace(".", "/")
            assert {f"{module}.py", f"{module}/__init__.py"} & names, target


def test_the_sdist_builds_what_the_wheel_holds(folder, sdist, wheel):
    inside = {name.partition("/src/")[2] for name in sdist.getnames() if "/src/" in name}
    module = f"{module_of(folder)}/"
    assert {name for name in wheel.namelist() if name.startswith(module)} <= inside


def test_the_core_ships_the_schema_that_editors_read():
    with zipfile.ZipFile(only("uwf_core-*.whl")) as core:
        schemas = [name for name in core.namelist() if name.endswith("schema.json")]
    assert "uwf_core/workflow/schema.json" in schemas
