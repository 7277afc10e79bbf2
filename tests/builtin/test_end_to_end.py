"""A workflow from start to end on the builtin agent: real uwf, real files, real tests, a scripted
model.
"""

import json
import sys

import pytest
from builtin_kit import turn, use

from uwf_core.testing.model_server import ScriptedModel
from uwf_core.testing.model_server_script import ModelTurn
from uwf_core.testing.project import Project

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


def project_with(tmp_path, model, use_as="{use: builtin, options: {allowShell: true}}"):
    project = Project(tmp_path)
    del project.env["UWF_DEFAULT_AGENT"]
    project.workflow("fix", FIX)
    (project.folder / "calc.py").write_text(CALC)
    (project.folder / "test_calc.py").write_text(TEST)
    project.config(
        f"providers: {{local: {{baseUrl: {model.openai_url}, apiKeyEnv: MODEL_KEY}}}}\n"
        "models: {scripted: {provider: local, name: scripted-model}}\n"
        f"defaultModel: scripted\ndefaultAgent: worker\nagents: {{worker: {use_as}}}\n"
    )
    project.env["MODEL_KEY"] = "sk-the-key-of-the-model"
    return project


def last_result(request):
    return request.messages[-1]["content"]


def after_red_tests(request):
    """The model reads what the tests said before it repairs anything."""
    assert "0 != 4" in last_result(request) and "exit code 1" in last_result(request)
    arguments = {"path": "calc.py", "old": "return a - b", "new": "return a + b"}
    return model_turn("edit_file", arguments)


def after_green_tests(request):
    assert "OK" in last_result(request) and "exit code 0" in last_result(request)
    return ModelTurn(text=DONE)


def model_turn(name, arguments):
    from uwf_core.testing.model_server_script import ModelToolCall

    return ModelTurn(tool_calls=(ModelToolCall(name=name, arguments=arguments),))


SOLVE = [
    turn(use("list_dir"), use("read_file", path="calc.py")),
    turn(use("run_command", command=RUN_TESTS)),
    after_red_tests,
    turn(use("run_command", command=RUN_TESTS)),
    after_green_tests,
]
JUDGE = [
    turn(use("write_file", path="calc.py", content="stolen"), use("read_file", path="calc.py")),
    turn(use("resolve", **{"$status": "rejected", "comments": "A docstring, please."})),
]
AGAIN = [
    turn(use("edit_file", path="calc.py", old="    return", new='    """Sum."""\n    return')),
    DONE,
]
APPROVE = ["---\n$status: approved\n---\nGood."]


@pytest.mark.parametrize(
    "use_as",
    [
        "{use: builtin, options: {allowShell: true}}",
        f"{{command: {sys.executable}, args: [-m, uwf_agent_builtin.command], "
        "capabilities: [continue, fork, ask, stream, tools], options: {allowShell: true}}",
    ],
    ids=["plugin", "command"],
)
def test_a_bug_is_solved_by_tools_and_a_reviewer_without_them(tmp_path, use_as):
    with ScriptedModel([*SOLVE, *JUDGE, *AGAIN, *APPROVE]) as model:
        project = project_with(tmp_path, model, use_as)
        outcome = project.uwf("run", "fix", "-p", "add() is wrong")
        assert outcome.exit_code == 0, outcome.stderr
        document = outcome.document
        assert document["done"]
        assert [step["role"] for step in document["steps"]] == [
            *("developer", "reviewer", "developer", "reviewer")
        ]
        text = (project.folder / "calc.py").read_text()
        assert "a + b" in text and '"""Sum."""' in text and "stolen" not in text
        # The reviewer is another session, and the developer goes on in its own.
        third = [each["content"] for each in model.requests[7].messages]
        assert any("add() is wrong" in str(each) for each in third)
        assert any("0 != 4" in str(each) for each in third)
        assert not any("docstring" in str(each) for each in third[:-1])
        fourth = [str(each["content"]) for each in model.requests[9].messages]
        assert not any("0 != 4" in each for each in fourth)
        assert set(model.requests[5].tool_names) == {"grep", "read_file", "resolve"}
        reviewer = document["steps"][1]["step"]
        shown = project.uwf("step", "show", reviewer, "--format", "json").document
        assert shown["denials"] == ["write_file: this role is narrowed to other tools"]
        assert document["steps"][0]["usage"]["turns"] == 5
        turns = project.uwf("step", "turns", document["thread"]).stdout
        assert "0 != 4" in turns and "edit_file" in turns
        kept = "".join(
            file.read_bytes().decode("utf-8", "replace")
            for file in project.home.rglob("*")
            if file.is_file()
        )
        assert "sk-the-key-of-the-model" not in kept


def test_a_step_is_asked_afterwards_without_moving_the_thread(tmp_path):
    with ScriptedModel([*SOLVE, *JUDGE, *AGAIN, *APPROVE, "For its docstring."]) as model:
        project = project_with(tmp_path, model)
        document = project.uwf("run", "fix", "-p", "add() is wrong").document
        reviewer = document["steps"][1]["step"]
        before = project.uwf("thread", "show", document["thread"]).document["head"]
        answer = project.uwf("step", "ask", reviewer, "-p", "Why?", "--format", "json").document
        assert answer["answer"] == "For its docstring." and answer["continuation"] == "original"
        assert project.uwf("thread", "show", document["thread"]).document["head"] == before
        said = [each["content"] for each in model.requests[-1].messages]
        assert "Why?" in said[-1] and any("resolve" in json.dumps(each) for each in said)


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
        project = project_with(tmp_path, model)
        refusing = ScriptedModel([{"error": {"status": 401, "message": "no"}}]).start()
        url = refusing.openai_url
        project.uwf("config", "set", "providers.local.baseUrl", url)
        outcome = project.uwf("run", "fix", "-p", "x")
        refusing.close()
        assert outcome.exit_code == 6
        assert outcome.document["steps"][0]["failure"]["kind"] == "auth"
        project.uwf("config", "set", "providers.local.baseUrl", model.openai_url)
        again = project.uwf("thread", "exec", outcome.document["thread"], "--until-done")
        assert again.exit_code == 0, again.stderr


def test_the_llm_extractor_reads_what_the_frontmatter_does_not_say(tmp_path):
    prose = "I am done. The file is calc.py."
    found = json.dumps({"$status": "done", "file": "calc.py"})
    with ScriptedModel([prose, prose, prose, found, *APPROVE]) as model:
        project = project_with(tmp_path, model)
        project.uwf("config", "set", "extractors", "[frontmatter, llm]")
        project.uwf("config", "set", "modelOverrides.extract", "scripted")
        outcome = project.uwf("run", "fix", "-p", "x")
        assert outcome.exit_code == 0, outcome.stderr
        asked = model.requests[3].body
        assert asked["response_format"]["type"] == "json_schema"
        assert prose in asked["messages"][-1]["content"]
        first = outcome.document["steps"][0]
        assert first["usage"]["turns"] == 4
