"""The client returns the documents of the commands: a page and a program see the same facts."""

import pytest
from cli_kit import APPROVED, WORKFLOW, WROTE

import uwf_explain
from uwf_core import client
from uwf_core.client import Client
from uwf_core.errors import UnknownIdError, UsageError


@pytest.fixture
def threads(uwf, project) -> list[str]:
    project.script([WROTE, APPROVED])
    return [uwf("run", "pair", "-p", text).document["thread"] for text in ("x", "y")]


@pytest.fixture
def opened(uwf, threads):
    with Client.open() as found:
        yield found


def test_views_of_threads_are_those_of_the_commands(uwf, opened, threads):
    first, second = threads
    step = opened.steps(first)[1]["step"]
    for document, words in (
        (opened.show(first), ("thread", "show", first)),
        (uwf_explain.diff(opened, first, second), ("thread", "diff", first, second)),
        (uwf_explain.why(opened, first), ("thread", "why", first, "--format", "json")),
        (
            uwf_explain.why(opened, first, step),
            ("thread", "why", first, "--step", step, "--format", "json"),
        ),
        (opened.usage(first), ("usage", first)),
        (opened.usage(workflow="pair", by="agent"), ("usage", "--workflow", "pair", "--by=agent")),
        (opened.step_files(step), ("step", "files", step)),
        ({"agents": opened.agents()}, ("agent", "list")),
        (opened.check_agent("human"), ("agent", "check", "human")),
        ({"plugins": opened.plugins()}, ("plugin", "list")),
    ):
        assert document == uwf(*words).document, words
    markdown = uwf("thread", "export", first, "--format", "markdown").out
    assert b"".join(opened.export(first, "markdown")).decode() == markdown


def test_views_of_workflows_are_those_of_the_commands(uwf, opened, project):
    changed = WORKFLOW.replace("goal: review", "goal: Review all of it.")
    (project.folder / "pair.yaml").write_text(changed)
    uwf("workflow", "add", ".workflow/pair.yaml")
    for document, words in (
        (opened.workflows(), ("list",)),
        (opened.workflow("pair"), ("show", "pair")),
        (opened.graph("pair"), ("graph", "pair", "--format", "json")),
        (opened.workflow_diff("./pair.yaml"), ("diff", "./pair.yaml")),
        (opened.check_workflow("pair.yaml"), ("check", str(project.folder / "pair.yaml"))),
    ):
        given = uwf("workflow", *words).document
        assert document == given.get("workflows", given), words


def test_a_text_is_checked_where_it_will_be_saved_and_stored_nowhere(opened, project):
    (project.folder / ".workflow" / "goal.md").write_text("Write it.")
    file = project.folder / ".workflow" / "new.yaml"
    text = WORKFLOW.replace("name: pair", "name: new").replace("write\n", "!include goal.md\n")
    assert opened.check_text(text, file) == {"valid": True, "problems": []}
    found = opened.check_text(text.replace("{{summary}}", "{{sumary}}"), file)
    assert not found["valid"]
    assert [(each["file"], each["line"]) for each in found["problems"]] == [(str(file), 21)]
    assert not file.exists()
    assert opened.list() == opened.list(client.ThreadFilter(all=True))


def test_a_file_that_a_step_did_not_deliver_is_an_error(opened, threads):
    step = opened.steps(threads[0])[1]["step"]
    with pytest.raises(UnknownIdError, match=r"delivered no file 'a\.txt'"):
        opened.step_file(step, "a.txt")
    with pytest.raises(UsageError):
        opened.check_workflow("missing.yaml")


def test_a_run_in_the_background_is_a_process_of_its_own(opened, project):
    project.script([{**WROTE, "untilFile": "go"}, APPROVED])
    thread = opened.start("pair", "x")["thread"]
    begun = opened.exec(thread, until_done=True, background=True)
    assert begun.document["status"] == "running" and begun.document["steps"] == []
    (project.folder / "go").touch()
    assert opened.wait(thread).document["done"]


def test_a_background_run_has_the_settings_of_its_client(uwf, project, monkeypatch):
    project.script([WROTE, APPROVED])
    monkeypatch.delenv("UWF_DEFAULT_AGENT")
    with Client.open(default_agent="mock") as opened:
        thread = opened.start("pair", "x")["thread"]
        opened.exec(thread, until_done=True, background=True)
        assert opened.wait(thread).document["done"]
    with (
        Client.open(store="memory:", default_agent="mock") as alone,
        pytest.raises(UsageError, match="needs this process"),
    ):
        alone.exec(alone.start("pair", "x")["thread"], background=True)


def test_each_public_name_exists():
    for name in client.__all__:
        assert getattr(client, name) is not None


def test_a_sender_of_texts_reads_no_file_by_including_it(opened, project):
    folder = project.folder / ".workflow"
    (folder / "notes.txt").write_text("secret-word")
    (folder / "part.yaml").write_text("secret-word: {secret-word: x}")
    file = folder / "new.yaml"
    for tag in ("!include notes.txt", "!<!include> notes.txt", "!include part.yaml"):
        for place in ("role: $END", "goal: write", "name: pair"):
            text = WORKFLOW.replace(place, f"{place.partition(':')[0]}: {tag}")
            found = opened.check_text(text, file, quote_included=False)
            assert found["problems"]
            assert "secret-word" not in str(found), (tag, place)
    text = WORKFLOW.replace("role: $END", "role: !include notes.txt")
    assert "secret-word" in str(opened.check_text(text, file))


def test_a_new_workflow_is_the_starter_or_an_example(opened):
    assert list(opened.new_workflow("mine")) == ["mine"]
    assert opened.check_text(opened.new_workflow("mine")["mine"], "mine.yaml")["valid"]
    assert next(iter(opened.new_workflow("mine", "solve-issue"))) == "mine"
    with pytest.raises(UnknownIdError):
        opened.new_workflow("mine", "nothing")
