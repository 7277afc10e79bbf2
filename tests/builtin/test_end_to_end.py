"""A workflow from start to end on the builtin agent: real uwf, real files, real tests, a scripted
model.
"""

import json
import sys
from typing import NamedTuple

import pytest
from builtin_kit import turn, use

from uwf_core.testing.project import CommandOutcome, Project
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_script import ModelTurn

FIX = """
version: 1
name: fix
description: A developer repairs, a reviewer looks and cannot write.
roles:
  developer:
    goal: Repair it.
    frontmatter:
      properties:
        $status: {const: done}
        file: {type: string}
      required: [$status, file]
  reviewer:
    goal: Judge it.
    tools: [read_file, grep]
    frontmatter:
      oneOf:
        - properties: {$status: {const: approved}}
          required: [$status]
        - properties: {$status: {const: rejected}, comments: {type: string}}
          required: [$status, comments]
graph:
  $START:
    new: {role: developer, prompt: "Repair it."}
    resume: {role: developer, prompt: "Go on."}
  developer:
    done: {role: reviewer, prompt: "Look at {{{file}}}."}
  reviewer:
    approved: {role: $END, prompt: "Done."}
    rejected: {role: developer, prompt: "Fix: {{{comments}}}"}
"""
CALC = "def add(a, b):\n    return a - b\n"
TEST = """
import unittest
from calc import add
class T(unittest.TestCase):
    def test_add(self): self.assertEqual(add(2, 2), 4)
"""
RUN_TESTS = f"{sys.executable} -B -m unittest -q test_calc"
DONE = "---\n$status: done\nfile: calc.py\n---\nIt subtracted."


PLUGIN = "{use: builtin, options: {allowShell: workspace}}"
COMMAND = (
    f"{{command: {sys.executable}, args: [-m, uwf_agent_builtin.command], "
    "capabilities: [continue, fork, ask, stream, tools, model]}"
)


def project_with(tmp_path, model, use_as=PLUGIN, more=""):
    project = Project(tmp_path)
    del project.env["UWF_DEFAULT_AGENT"]
    project.workflow("fix", FIX)
    (project.folder / "calc.py").write_text(CALC)
    (project.folder / "test_calc.py").write_text(TEST)
    project.env["MODEL_KEY"] = "sk-the-key-of-the-model"
    configure(project, model, use_as, more)
    return project


EXTRA = {"reasoning_effort": "high", "provider": {"order": ["a"]}}


def configure(project, model, use_as=PLUGIN, more=""):
    project.config(
        f"providers: {{local: {{baseUrl: {model.openai_url}, apiKeyEnv: MODEL_KEY}}}}\n"
        "models: {scripted: {provider: local, name: scripted-model, "
        f"extra: {json.dumps(EXTRA)}}}}}\n"
        f"defaultModel: scripted\ndefaultAgent: worker\nagents: {{worker: {use_as}}}\n{more}"
    )


def last_result(request):
    return request.messages[-1]["content"]


def after_red_tests(request):
    """The model reads what the tests said before it repairs anything."""
    assert "0 != 4" in last_result(request) and "exit code 1" in last_result(request)
    arguments = {"path": "calc.py", "old": "return a - b", "new": "return a + b"}
    return model_turn("edit_file", arguments)


def after_green_tests(request):
    assert last_result(request).rstrip().endswith("OK"), "an exit code of 0 is not shown"
    return ModelTurn(text=DONE)


def model_turn(name, arguments):
    from uwf_testing.model_server_script import ModelToolCall

    return ModelTurn(tool_calls=(ModelToolCall(name=name, arguments=arguments),))


SOLVE = [
    turn(use("list_files"), use("read_file", path="calc.py")),
    turn(use("run_command", command=RUN_TESTS)),
    after_red_tests,
    turn(use("run_command", command=RUN_TESTS)),
    after_green_tests,
]
JUDGE = [
    turn(use("write_file", path="calc.py", content="stolen"), use("read_file", path="calc.py")),
    turn(
        use(
            "resolve",
            **{"$status": "rejected", "comments": "A docstring, please.", "_body": "IN SHORT"},
        )
    ),
]
AGAIN = [
    turn(use("edit_file", path="calc.py", old="    return", new='    """Sum."""\n    return')),
    DONE,
]
APPROVE = ["---\n$status: approved\n---\nGood."]


class Solved(NamedTuple):
    model: ScriptedModel
    project: Project
    outcome: CommandOutcome


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A thread that is done: its model, which goes on, its project and how the command ended."""
    turns = [*SOLVE, *JUDGE, *AGAIN, *APPROVE, "For its docstring.", "So.", "So."]
    with ScriptedModel(turns) as model:
        project = project_with(tmp_path_factory.mktemp("solved"), model)
        yield Solved(model, project, project.uwf("run", "fix", "-p", "add() is wrong"))


def test_a_bug_is_solved_by_tools_and_a_reviewer_without_them(solved):
    assert solved.outcome.exit_code == 0, solved.outcome.stderr
    document = solved.outcome.document
    assert document["done"]
    assert [step["role"] for step in document["steps"]] == [
        *("developer", "reviewer", "developer", "reviewer")
    ]
    text = (solved.project.folder / "calc.py").read_text()
    assert "a + b" in text and '"""Sum."""' in text and "stolen" not in text
    assert document["steps"][0]["usage"]["turns"] == 5


def test_the_reviewer_is_another_session_and_the_developer_goes_on_in_its_own(solved):
    third = [each["content"] for each in solved.model.requests[7].messages]
    assert any("add() is wrong" in str(each) for each in third)
    assert any("0 != 4" in str(each) for each in third)
    assert not any("docstring" in str(each) for each in third[:-1])
    fourth = [str(each["content"]) for each in solved.model.requests[9].messages]
    assert not any("0 != 4" in each for each in fourth)


def test_a_narrowed_reviewer_cannot_write_and_what_it_tried_is_kept(solved):
    assert set(solved.model.requests[5].tool_names) == {"grep", "read_file", "resolve"}
    reviewer = solved.outcome.document["steps"][1]["step"]
    shown = solved.project.uwf("step", "show", reviewer, "--format", "json").document
    assert shown["denials"] == ["write_file: this role is narrowed to other tools"]


def test_the_prompt_has_no_words_about_frontmatter_and_the_object_brings_its_text(solved):
    assert all(b"frontmatter" not in each.raw for each in solved.model.requests)
    first = solved.project.uwf(
        "step", "read", solved.outcome.document["steps"][0]["step"], "--prompt"
    ).stdout
    assert first.splitlines()[-1].startswith("Deliver one object: `$status: ")
    shown = solved.project.uwf("step", "show", solved.outcome.document["steps"][1]["step"])
    assert shown.document["body"] == "IN SHORT" and "_body" not in shown.document["output"]
    assert any("IN SHORT" in str(each["content"]) for each in solved.model.requests[7].messages)


def test_the_turns_of_a_step_show_what_the_tools_said_and_no_key_is_kept(solved):
    turns = solved.project.uwf("step", "turns", solved.outcome.document["thread"]).stdout
    assert "0 != 4" in turns and "edit_file" in turns
    kept = "".join(
        file.read_bytes().decode("utf-8", "replace")
        for file in solved.project.home.rglob("*")
        if file.is_file()
    )
    assert "sk-the-key-of-the-model" not in kept


def test_a_step_is_asked_afterwards_without_moving_the_thread(solved):
    document = solved.outcome.document
    reviewer = document["steps"][1]["step"]
    answer = solved.project.uwf("step", "ask", reviewer, "-p", "Why?", "--format", "json").document
    assert answer["answer"] == "For its docstring." and answer["continuation"] == "original"
    assert solved.project.uwf("thread", "show", document["thread"]).document["steps"] == 4
    said = [each["content"] for each in solved.model.requests[-1].messages]
    assert "Why?" in said[-1] and any("resolve" in json.dumps(each) for each in said)


def test_a_question_opens_no_tool_that_the_role_did_not_have(solved):
    """The reviewer is narrowed to two that read; the developer, who had all, is asked with four."""
    names = []
    for index in (1, 0):
        step = solved.outcome.document["steps"][index]["step"]
        assert solved.project.uwf("step", "ask", step, "-p", "How?").exit_code == 0
        names.append(set(solved.model.requests[-1].tool_names))
    assert names == [{"grep", "read_file"}, {"grep", "read_file", "list_files"}]


def test_the_agent_as_a_command_works_with_the_same_tools_and_the_same_narrowing(tmp_path):
    repair = turn(use("edit_file", path="calc.py", old="a - b", new="a + b"))
    write = turn(use("write_file", path="calc.py", content="stolen"))
    with ScriptedModel([repair, DONE, write, *APPROVE]) as model:
        project = project_with(tmp_path, model, COMMAND)
        outcome = project.uwf("run", "fix", "-p", "add() is wrong")
        assert outcome.exit_code == 0, outcome.stderr
        assert outcome.document["done"]
        assert "a + b" in (project.folder / "calc.py").read_text()
        assert set(model.requests[2].tool_names) == {"grep", "read_file", "resolve"}


@pytest.mark.parametrize("use_as", [PLUGIN, COMMAND])
def test_what_the_configuration_adds_for_a_model_is_in_each_request(tmp_path, use_as):
    with ScriptedModel([DONE, *APPROVE]) as model:
        project = project_with(tmp_path, model, use_as)
        assert project.uwf("run", "fix", "-p", "x").exit_code == 0
        for request in model.requests:
            assert {key: request.body[key] for key in EXTRA} == EXTRA
        project.uwf("config", "set", "models.scripted.extra.reasoning_effort", "low")
        shown = project.uwf("config", "show").document["models"]["scripted"]["extra"]
        assert shown == {**EXTRA, "reasoning_effort": "low"}


def test_wrong_output_is_corrected_in_the_same_session(tmp_path):
    wrong = "---\n$status: done\n---\nI forgot the file."
    with ScriptedModel([wrong, DONE, *APPROVE]) as model:
        project = project_with(tmp_path, model)
        document = project.uwf("run", "fix", "-p", "x").document
        assert document["done"]
        said = [each["content"] for each in model.requests[1].messages]
        assert said[-2] == wrong and "file" in said[-1]


def test_a_wrong_key_is_exit_six_and_the_next_exec_goes_on(tmp_path):
    with ScriptedModel([DONE, *APPROVE]) as model:
        with ScriptedModel([{"error": {"status": 401, "message": "no"}}]) as refusing:
            project = project_with(tmp_path, refusing)
            outcome = project.uwf("run", "fix", "-p", "x")
        assert outcome.exit_code == 6
        assert outcome.document["steps"][0]["failure"]["kind"] == "auth"
        configure(project, model)
        again = project.uwf("thread", "exec", outcome.document["thread"], "--until-done")
        assert again.exit_code == 0, again.stderr


def test_the_llm_extractor_reads_what_the_frontmatter_does_not_say(tmp_path):
    prose = "I am done. The file is calc.py."
    found = json.dumps({"$status": "done", "file": "calc.py"})
    with ScriptedModel([prose, prose, prose, found, *APPROVE]) as model:
        more = "extractors: [frontmatter, llm]\nmodelOverrides: {extract: scripted}\n"
        project = project_with(tmp_path, model, more=more)
        outcome = project.uwf("run", "fix", "-p", "x")
        assert outcome.exit_code == 0, outcome.stderr
        asked = model.requests[3].body
        assert asked["response_format"]["type"] == "json_schema"
        assert prose in asked["messages"][-1]["content"]
        first = outcome.document["steps"][0]
        assert first["usage"]["turns"] == 4
