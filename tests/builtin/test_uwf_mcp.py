"""The builtin agent with `uwf mcp` as its server: a role reads threads, and starts one."""

import json
import sys
from importlib.util import find_spec

import pytest
from builtin_kit import DONE, turn, use
from tests.step_parts import call_of

from uwf_core.testing.project import Project
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_script import ModelToolCall, ModelTurn

pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="`uwf mcp` needs the SDK")

WORKFLOW = """\
version: 1
name: {name}
roles:
  {role}:
    goal: Work.
    frontmatter:
      properties: {{$status: {{const: done}}, text: {{type: string}}}}
      required: [$status]
graph:
  $START:
    new: {{role: {role}, prompt: Begin.}}
    resume: {{role: {role}, prompt: Again.}}
  {role}:
    done: {{role: $END, prompt: Done.}}
"""


@pytest.fixture
def place(tmp_path):
    """A project whose mock agent plays `writer`, and whose builtin agent plays `leader`."""
    project = Project(tmp_path)
    del project.env["UWF_DEFAULT_AGENT"]
    for name, role in (("child", "writer"), ("parent", "leader")):
        project.workflow(name, WORKFLOW.format(name=name, role=role))
    project.script([{"role": "writer", "output": {"$status": "done", "text": "Hello from below."}}])
    return project


def configure(project, model):
    server = {
        "command": sys.executable,
        "args": ["-m", "uwf_core", "mcp", "--allow", "run"],
        "env": ["UWF_HOME", "UWF_MOCK_SCRIPT"],
    }
    project.config(
        f"providers: {{local: {{baseUrl: {model.openai_url}}}}}\n"
        "models: {scripted: {provider: local, name: m}}\ndefaultModel: scripted\n"
        "defaultAgent: leader\nagents:\n  leader:\n    use: builtin\n    env: [UWF_MOCK_SCRIPT]\n"
        f"    options: {{mcp: {{uwf: {json.dumps(server)}}}}}\n"
    )


def recorded(request):
    """The document in the last result."""
    text = request.messages[-1]["content"]
    return json.loads(text)["recorded"]


def then(tool):
    """Call a tool with the thread of the last result."""

    def answer(request):
        thread = recorded(request)["thread"]
        call = ModelToolCall(name=f"mcp__uwf__{tool}", arguments={"thread": thread})
        return ModelTurn(tool_calls=(call,))

    return answer


def test_a_role_starts_a_thread_waits_for_it_and_reads_it(place):
    start = use("mcp__uwf__start", workflow="child", prompt="Write.", agent="mock")
    with ScriptedModel([turn(start), then("wait"), then("read"), DONE]) as model:
        configure(place, model)
        with place.client() as uwf:
            thread = uwf.start("parent", "Have it written.")["thread"]
            assert uwf.exec(thread).document["status"] == "completed"
            calls = [call for each in uwf.turns(thread) for call in each["toolCalls"]]
            [step] = [uwf.step(row["step"]) for row in uwf.steps(thread)[1:]]
            below = [uwf.show(called) for called in call_of(step)["called"]]
    assert [call["isError"] for call in calls] == [False] * 3
    assert "completed" in calls[1]["result"] and "Hello from below." in calls[2]["result"]
    [child] = [(each["workflowName"], each["status"]) for each in below]
    assert child == ("child", "completed"), "it counts as a child of the step"
