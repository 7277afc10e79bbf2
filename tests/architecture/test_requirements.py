"""The lock file and the requirements of the distributions fit each other."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
LOCKED = {
    name: Version(version)
    for file in ("nox", "uv", "lock")
    for name, version in re.findall(
        r"^([a-z0-9-]+)==(\S+)", (ROOT / "requirements" / f"{file}.txt").read_text("utf-8"), re.M
    )
}


def requirements() -> Iterator[tuple[str, Requirement]]:
    """Each requirement of others, with the file that states it."""
    own = {path.parent.name for path in ROOT.glob("uwf-*/pyproject.toml")}
    for path in (
        ROOT / "pyproject.toml",
        *ROOT.glob("uwf-*/pyproject.toml"),
        *ROOT.glob("examples/uwf-*/pyproject.toml"),
    ):
        document = tomllib.loads(path.read_text("utf-8"))
        project = document.get("project", {})
        texts = [
            *project.get("dependencies", []),
            *document.get("build-system", {"requires": []})["requires"],
        ]
        for group in project.get("optional-dependencies", {}).values():
            texts += group
        for group in document.get("dependency-groups", {}).values():
            texts += [each for each in group if isinstance(each, str)]
        for text in texts:
            found = Requirement(text)
            if canonicalize_name(found.name) not in own:
                yield str(path.relative_to(ROOT)), found


ALL = [pytest.param(*each, id=f"{each[0]} {each[1]}") for each in requirements()]


@pytest.mark.parametrize(("file", "wanted"), ALL)
def test_the_lock_file_has_a_version_that_fits(file: str, wanted: Requirement) -> None:
    locked = LOCKED.get(canonicalize_name(wanted.name))
    cure = "run requirements/lock.py"
    assert locked is not None, f"{wanted.name} is not in requirements/lock.txt: {cure}"
    assert wanted.specifier.contains(locked, prereleases=True), f"{wanted} != {locked}: {cure}"


@pytest.mark.parametrize(("file", "wanted"), ALL)
def test_a_library_below_1_0_has_an_upper_bound(file: str, wanted: Requirement) -> None:
    """Of a distribution it is the next minor version, which may break what it likes."""
    locked = LOCKED[canonicalize_name(wanted.name)]
    if locked.major == 0:
        following = "1.0" if file == "pyproject.toml" else f"0.{locked.minor + 1}"
        assert not wanted.specifier.contains(following), f"{wanted} in {file} admits {following}"
