"""The project speaks of itself alone: no paths of one machine, no hosts of package registries."""

from pathlib import Path

import pytest

from sources import ROOT, name_of, project_files

# Folders so general that a path below them says nothing about the machine it was written on.
GENERAL = {Path("/"), Path("/tmp"), Path("/var/tmp"), Path("/home"), Path("/root"), Path("/srv")}

# Put together here, so that this file does not hold them.
REGISTRIES = ["pypi" + ".org", "pythonhosted" + ".org", "npmjs" + ".org", "npmjs" + ".com"]


def lines_with(needle: str) -> list[str]:
    found = []
    for path in project_files():
        text = path.read_bytes()
        if needle.encode() in text and b"\0" not in text:
            lines = text.decode("utf-8", "replace").splitlines()
            found += [
                f"{name_of(path)}:{number}"
                for number, line in enumerate(lines, start=1)
                if needle in line
            ]
    return found


def test_no_file_names_the_place_of_this_checkout():
    if ROOT.parent in GENERAL:
        assert lines_with(f"{ROOT}/") == []
        return
    assert lines_with(f"{ROOT.parent}/") == []


@pytest.mark.parametrize("host", REGISTRIES, ids=range(len(REGISTRIES)))
def test_no_file_names_the_host_of_a_package_registry(host):
    """Which registry is used is the reader's own matter; a name would bind a mirror's users."""
    assert lines_with(host) == []


def test_every_text_file_is_utf8_and_ends_with_a_newline():
    wrong = []
    for path in project_files():
        content = path.read_bytes()
        if b"\0" in content or not content or "data" in path.parts:
            continue
        try:
            content.decode("utf-8")
        except UnicodeDecodeError:
            wrong.append(name_of(path))
            continue
        if path.suffix in {".py", ".md", ".toml", ".yml", ".yaml"} and content[-1:] != b"\n":
            wrong.append(name_of(path))
    assert wrong == []
