"""The project speaks of itself alone: no paths of one machine, no hosts of package registries."""

import re
from pathlib import Path

import pytest

from sources import ROOT, name_of, project_files

# Folders so general that a path below them says nothing about the machine it was written on.
GENERAL = {Path("/"), Path("/tmp"), Path("/var/tmp"), Path("/home"), Path("/root"), Path("/srv")}

# Put together here, so that this file does not hold them.
REGISTRIES = ["pypi" + ".org", "pythonhosted" + ".org", "npmjs" + ".org", "npmjs" + ".com"]


def lines_with(pattern: str) -> list[str]:
    """The lines, of all files that are text, in which the regular expression is found."""
    found = []
    for path in project_files():
        content = path.read_bytes()
        if b"\0" in content:
            continue
        lines = content.decode("utf-8", "replace").splitlines()
        found += [
            f"{name_of(path)}:{number}"
            for number, line in enumerate(lines, start=1)
            if re.search(pattern, line)
        ]
    return found


def begins_with(folder: Path) -> str:
    """A path below `folder`, and not one that only has the same words in its middle."""
    return rf"(?<![\w~.}}]){re.escape(str(folder))}/"


def test_no_file_names_the_place_of_this_checkout():
    if ROOT.parent in GENERAL:
        assert lines_with(begins_with(ROOT)) == []
        return
    assert lines_with(begins_with(ROOT.parent)) == []


@pytest.mark.parametrize("host", REGISTRIES, ids=range(len(REGISTRIES)))
def test_no_file_names_the_host_of_a_package_registry(host):
    """Which registry is used is the reader's own matter; a name would bind a mirror's users."""
    assert lines_with(re.escape(host)) == []


def test_every_text_file_is_utf8_and_ends_with_a_newline():
    """Save what the tests keep because it is broken."""
    wrong = []
    for path in project_files():
        content = path.read_bytes()
        if b"\0" in content or not content or path.is_relative_to(ROOT / "tests"):
            continue
        try:
            content.decode("utf-8")
        except UnicodeDecodeError:
            wrong.append(name_of(path))
            continue
        if path.suffix in {".py", ".md", ".toml", ".yml", ".yaml"} and content[-1:] != b"\n":
            wrong.append(name_of(path))
    assert wrong == []
