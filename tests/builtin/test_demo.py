"""`uwf demo --live`: the demo on the model that the user has configured."""

import pytest

from uwf_agent_builtin.demo.model import reply
from uwf_core.testing.project import Project
from uwf_llm.chat import Message
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_script import ModelScript, ModelToolCall, ModelTurn

KEY = "sk-the-key-of-the-user"
GOALS = {
    "Find out why the program": "planner",
    "Make the change that the task asks for": "developer",
    "Find out whether the change": "reviewer",
    "Decide whether the issue is solved": "verifier",
}


def any_role(request):
    """A model that finds out from its prompt what it is to be."""
    messages = [Message(role=each["role"], text=each["content"] or "") for each in request.messages]
    prompt = next(each.text for each in messages if each.role == "user")
    said = reply(next(role for goal, role in GOALS.items() if goal in prompt), messages)
    calls = tuple(
        ModelToolCall(name=each.name, arguments=each.arguments) for each in said.tool_calls
    )
    return ModelTurn(text=said.text, tool_calls=calls)


@pytest.fixture
def project(tmp_path):
    project = Project(tmp_path)
    project.env["TMPDIR"] = str(tmp_path)
    return project


def test_the_live_demo_runs_on_the_configured_model_and_keeps_its_key_to_itself(project, tmp_path):
    script = ModelScript(turns=(any_role,), repeat=True, api_key=KEY)
    with ScriptedModel(script=script) as model:
        project.config(
            f"providers: {{mine: {{baseUrl: {model.openai_url}, apiKey: {KEY}}}}}\n"
            "models: {large: {provider: mine, name: model-9}}\ndefaultModel: large\n"
        )
        outcome = project.uwf("demo", "--live", "--dir", "trial")
        asked = model.requests
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.document["testsAfter"] == {"green": True, "ran": 4, "failed": 0}
    assert outcome.document["agent"] == "builtin"
    assert "the builtin agent on model-9 of mine" in outcome.stderr
    assert {each.body["model"] for each in asked} == {"model-9"}
    files = [file for file in (project.folder / "trial").rglob("*") if file.is_file()]
    assert not any(KEY.encode() in file.read_bytes() for file in files)


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({}, "needs a model, but none is configured"),
        ({"UWF_BLOCK_PLUGINS": "builtin"}, "cannot be used: blocked"),
    ],
    ids=["no model", "no agent"],
)
def test_a_live_demo_that_cannot_be_played_says_why_and_makes_nothing(project, env, words):
    outcome = project.uwf("demo", "--live", "--dir", "trial", env=env)
    assert outcome.exit_code == 2
    assert words in outcome.stderr
    assert not (project.folder / "trial").exists()
