"""`uwf plugin new` writes a whole distribution, or says why not and writes nothing."""

import re
import tomllib
from pathlib import Path

import pytest

from uwf_testing.new_plugin import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_whole_distribution(uwf, project, kind):
    made = uwf("plugin", "new", kind, "my-own")
    assert made.code == 0, made.err
    folder = Path(made.document["folder"])
    assert folder == project.folder / f"uwf-{kind}-my-own"
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert written == set(made.document["files"])
    assert {"pyproject.toml", "README.md", ".github/workflows/tests.yml"} <= written
    described = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert described["name"] == f"uwf-{kind}-my-own"
    (demand,) = (each for each in described["dependencies"] if each.startswith("uwf-core"))
    assert ">=" in demand
    assert ",<" in demand
    (entries,) = described["entry-points"].values()
    module = entries["my-own"].partition(":")[0].replace(".", "/")
    assert f"src/{module}.py" in written
    unfilled = [path for path in written if re.search(r"@[A-Z]+@", (folder / path).read_text())]
    assert unfilled == []


def test_the_distribution_may_be_named_instead(uwf, project):
    made = uwf("plugin", "new", "agent", "uwf-agent-my-own")
    assert made.document["name"] == "my-own"
    assert made.document["distribution"] == "uwf-agent-my-own"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("agent", "My-Agent"), "is not a valid plugin name"),
        (("agent", "my_agent"), "is not a valid plugin name"),
        (("agent", "-x"), ""),
        (("agent", "9lives"), "is not a valid plugin name"),
        (("agent", "a--b"), "is not a valid plugin name"),
        (("agent", "../out"), "is not a valid plugin name"),
        (("agent", ""), "is not a valid plugin name"),
        (("agent", "mock"), "the name 'mock' is taken by uwf-core"),
        (("store", "sqlite"), "the name 'sqlite' is taken by uwf-core"),
        (("store", "memory"), "the name 'memory' is taken by uwf-core"),
        (("command", "thread"), "the name 'thread' is taken by uwf-core"),
        (("extractor", "frontmatter"), "the name 'frontmatter' is taken by uwf-core"),
        (("plugin", "x"), "'plugin' is not one of"),
    ],
)
def test_what_cannot_be_a_plugin_is_refused_and_nothing_is_written(uwf, project, words, says):
    before = sorted(project.folder.rglob("*"))
    refused = uwf("plugin", "new", *words)
    assert (refused.code, refused.out) == (2, "")
    assert says in refused.error["message"]
    assert refused.error["hint"]
    assert sorted(project.folder.rglob("*")) == before


def test_a_folder_that_is_there_is_left_as_it_is(uwf, project):
    there = project.folder / "uwf-agent-mine"
    there.mkdir()
    (there / "notes.txt").write_text("my own")
    refused = uwf("plugin", "new", "agent", "mine")
    assert refused.code == 2
    assert "exists already" in refused.error["message"]
    assert refused.error["where"] == str(there)
    assert [path.name for path in there.iterdir()] == ["notes.txt"]


def test_a_place_that_cannot_be_written_is_named(uwf, project):
    (project.folder / "file").write_text("")
    refused = uwf("plugin", "new", "agent", "mine", "--dir", "file")
    assert refused.code == 2
    assert "cannot write" in refused.error["message"]
    assert str(project.folder / "file") in refused.error["where"]
