"""What a newcomer is told to do next, and that it works as it is told."""

import shlex
from pathlib import Path

import pytest
from cli_kit import on_terminal

from uwf_core.examples.shelf import all_examples, first_commands, new_texts

EXAMPLES = [each.name for each in all_examples()]


def told(text):
    """The commands that a text names as next ones."""
    lines = [line.partition(": ") for line in text.splitlines()]
    return [command for word, _, command in lines if word in ("next", "then")]


def words(command):
    program, *rest = shlex.split(command)
    assert program == "uwf"
    return rest


@pytest.mark.parametrize("file", ["hello.yaml", "a b/hello.yaml", ".workflow/hello.yaml"])
@pytest.mark.parametrize("example", [None, "fix-bug", "debate"])
def test_workflow_new_names_the_check_and_the_run_and_both_work(uwf, project, file, example):
    (project.folder / file).parent.mkdir(exist_ok=True)
    origin = [] if example is None else ["--from", example]
    made = uwf("workflow", "new", file, *origin, "--format", "text")
    check, run = told(made.out)
    assert uwf(*words(check)).code == 0
    assert words(run)[0] == "run"
    done = uwf(*words(run), "--agent", "human")
    assert (done.code, done.document["workflowName"]) == (3, "hello"), done.err
    if example is not None:  # the copy's own comment says the same
        assert f"#   {run}\n" in (project.folder / file).read_text()


def test_workflow_new_names_the_same_commands_for_programs(uwf):
    document = uwf("workflow", "new", "mine", "--from", "solve-issue", "--format", "json").document
    shown = uwf("workflow", "new", "other", "--from", "solve-issue", "--format", "text")
    assert [each.replace("mine", "other") for each in document["next"]] == told(shown.out)


def test_workflow_new_names_the_permission_that_programs_need_before_the_run(uwf, project):
    made = uwf("workflow", "new", "mine", "--from", "solve-issue", "--format", "text")
    check, allow, run = told(made.out)
    assert (uwf(*words(check)).code, uwf(*words(allow)).code) == (0, 0)
    done = uwf(*words(run), "--agent", "human")
    assert (done.code, done.document["workflowName"]) == (3, "mine"), done.err


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_commands_of_an_example_name_the_copy(example):
    copy = new_texts("my-copy", example, "sub/my-copy.yaml")["my-copy"]
    *before, run = first_commands(copy, "sub/my-copy.yaml")
    assert words(run)[:2] == ["run", "./sub/my-copy.yaml"]
    for command in before:
        assert words(command)[0] in ("config", "improve", "workflow"), "a command of uwf"
        if "add" in words(command):
            assert words(command)[2] == "sub/my-copy.yaml"
    head = copy.partition("version: 1")[0]
    assert f"run {example}" not in head
    assert f"./{example}.yaml" not in head


def test_an_example_beside_its_schema_can_be_run_by_what_its_comment_says():
    for example in EXAMPLES:
        import uwf_core.examples as shelf

        text = (Path(shelf.__path__[0]) / f"{example}.yaml").read_text(encoding="utf-8")
        assert words(first_commands(text, "x.yaml")[-1])[1] == f"./{example}.yaml"


def test_setup_ends_with_the_commands_that_lead_to_a_run(uwf, project):
    done = uwf("setup", "--agent", "human", "--format", "text")
    lines = done.out.splitlines()
    assert lines[0] == "default agent human"
    new, check, run = told(done.out)
    assert uwf(*words(new)).code == 0
    assert uwf(*words(check)).code == 0
    assert uwf(*words(run), "--agent", "human").code == 3


def test_setup_of_an_agent_that_is_not_ready_leads_to_its_check(uwf, project):
    project.config("agents: {gone: {command: /not/there}}\n")
    done = uwf("setup", "--agent", "gone", "--format", "text")
    assert told(done.out) == ["uwf agent check gone"]


def test_setup_of_a_model_that_does_not_answer_leads_to_the_doctor(uwf, project):
    server = ("--provider", "mine", "--base-url", "http://127.0.0.1:9/v1", "--model", "m")
    done = uwf("setup", *server, "--agent", "human", "--format", "text")
    assert done.out.splitlines()[0] == "default model m, agent human"
    assert told(done.out) == ["uwf doctor"]


def test_a_list_without_workflows_names_the_commands_that_fill_it(uwf, project):
    """A file beside the list is not in it: `.workflow` is where names come from."""
    (project.folder / ".workflow" / "pair.yaml").unlink()
    assert uwf("workflow", "new", "beside").code == 0
    shown = uwf("workflow", "list", "--format", "text").out
    new, add = (line.partition(": ")[2] for line in shown.splitlines()[1:])
    assert uwf(*words(new.replace("NAME", "made"))).code == 0
    assert uwf(*words(add.replace("FILE", "beside.yaml"))).code == 0
    rows = uwf("workflow", "list").document["workflows"]
    assert {each["name"] for each in rows} == {"made", "beside"}


def test_the_questions_of_setup_say_first_that_an_agent_may_need_none(project):
    shown = on_terminal(project, ["setup"], typed="\x03")
    assert shown.code == 130
    assert shown.plain.index("uwf setup --agent claude-code") < shown.plain.index("openai")
    assert not (project.home / "config.yaml").exists()


def test_a_run_without_any_agent_leads_to_the_setup(uwf, project, monkeypatch):
    monkeypatch.delenv("UWF_DEFAULT_AGENT", raising=False)
    project.env.pop("UWF_DEFAULT_AGENT", None)
    refused = uwf("run", "pair", "-p", "x")
    assert refused.code == 2, refused
    assert "next: uwf setup" in refused.error["hint"]
    assert uwf("thread", "list", "--all").document["threads"] == []
