"""`uwf thread why`: text for people, data for programs, one page as a file."""

import pytest
from cli_kit import APPROVED, WROTE, on_terminal


@pytest.fixture
def thread(uwf, project) -> str:
    project.script([WROTE, APPROVED])
    return uwf("run", "pair", "-p", "x").document["thread"]


def test_the_text_is_the_same_in_a_pipe_and_on_a_terminal(uwf, project, thread):
    piped = uwf("thread", "why", thread)
    assert piped.code == 0
    assert "Because the decision was “done”, the workflow “pair”" in piped.out
    shown = on_terminal(project, ("thread", "why", thread), columns=40)
    assert shown.plain.rstrip("\n") == piped.out.rstrip("\n")


def test_as_data_it_has_the_statements_with_their_references(uwf, thread):
    document = uwf("thread", "why", thread, "--format", "json").document
    steps = [each for each in document["sections"] if each["step"]]
    assert [(each["role"], each["status"]) for each in steps] == [
        ("writer", "done"),
        ("reviewer", "approved"),
    ]
    for each in document["sections"]:
        for statement in (*each["statements"], *each["prompt"]):
            assert statement["refs"]
            for ref in statement["refs"]:
                assert uwf("cas", "has", ref).code == 0
    assert uwf("thread", "why", thread, "--format", "yaml").out.startswith("thread:")


@pytest.mark.parametrize(("file", "begin"), [("a.html", "<!doctype html>"), ("b.MD", "# Why")])
def test_a_file_gets_the_whole_page(uwf, project, thread, file, begin):
    (project.folder / file).write_text("an older one")
    done = uwf("thread", "why", thread, "-o", file, "--format", "json")
    assert done.code == 0, done.err
    page = (project.folder / file).read_text("utf-8")
    assert page.startswith(begin)
    assert "What you must deliver" in page
    assert done.document["file"] == str(project.folder / file)
    assert done.document["bytes"] == len(page.encode())


@pytest.mark.parametrize("file", ["page.pdf", "page"])
def test_another_suffix_is_an_error_that_names_both(uwf, project, thread, file):
    refused = uwf("thread", "why", thread, "-o", file)
    assert refused.code == 2
    assert ".html" in refused.err and ".md" in refused.err
    assert not (project.folder / file).exists()


def test_one_step_alone(uwf, thread):
    (_, first, _) = uwf("step", "list", thread).document["steps"]
    text = uwf("thread", "why", thread, "--step", first["step"][:6]).out
    assert "Step 1: the writer" in text and "Step 2: the reviewer" not in text
    other = uwf("thread", "start", "pair", "-p", "y").document["thread"]
    refused = uwf("thread", "why", other, "--step", first["step"])
    assert refused.code == 2
    assert "is not a step of thread" in refused.err


def test_the_exporters_write_the_same_pages(uwf, project, thread):
    for name, file in (("html", "a.html"), ("markdown", "b.md")):
        uwf("thread", "why", thread, "-o", file)
        exported = uwf("thread", "export", thread, "--format", name).out
        assert exported == (project.folder / file).read_text("utf-8")


def test_the_proof_can_be_pasted_and_gives_the_root(uwf, project, thread):
    document = uwf("thread", "why", thread, "--format", "json").document
    commands = document["sections"][-1]["statements"][-1]["command"].splitlines()
    for line in commands:
        done = uwf(*line.split()[1:])
        assert (done.code, done.document["root"]) == (0, document["root"])
