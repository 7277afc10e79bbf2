"""Roles that name who plays them: a person, or an agent and a model that their author suggests."""

import pytest

from uwf_core.engine.models import model_of
from uwf_core.testing.project import Project

PAIR = """
version: 1
name: pair
roles:
  writer:
    goal: Write it.
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
    OF_WRITER
  boss:
    goal: Approve it.
    human: true
    frontmatter: {properties: {$status: {const: approved}}, required: [$status]}
graph:
  $START:
    new: {role: writer, prompt: Write it.}
    resume: {role: writer, prompt: Again.}
  writer: {done: {role: boss, prompt: Approve it.}}
  boss: {approved: {role: $END, prompt: Done.}}
"""
MODELS = """
providers: {here: {baseUrl: "http://localhost:1/v1"}}
models: {small: {provider: here, name: small}, large: {provider: here, name: large}}
defaultModel: small
"""


def pair(project: Project, of_writer: str = "") -> None:
    project.workflow("pair", PAIR.replace("OF_WRITER", of_writer))
    project.script([{"role": "writer", "output": {"$status": "done"}}], repeat=True)


def test_a_person_plays_a_human_role_whatever_agent_is_chosen(project: Project) -> None:
    pair(project)
    project.config("agentOverrides: {pair: {boss: mock}}\nagents: {human: {use: mock}}\n")
    with project.client() as uwf:
        thread = uwf.start("pair", "x", agent="mock")["thread"]
        asked = uwf.exec(thread, until_done=True, agent="mock")
        assert (asked.exit_code, uwf.show(thread)["suspendedRole"]) == (3, "boss")
        answered = uwf.resume(thread, answer="$status=approved", agent="mock")
        assert answered.document["status"] == "completed"
        assert [each["agent"] for each in uwf.steps(thread)[1:]] == ["mock", "human"]


def test_a_workflow_that_begins_with_a_person_needs_no_agent(project: Project) -> None:
    pair(project, "human: true")
    del project.env["UWF_DEFAULT_AGENT"]
    with project.client() as uwf:
        assert uwf.start("pair", "x")["workflowName"] == "pair"


def test_the_agent_that_a_role_suggests_plays_it_unless_the_user_chose(project: Project) -> None:
    pair(project, "agent: mine")
    project.config("agents: {mine: {use: human}}\n")
    with project.client() as uwf:
        suggested = uwf.start("pair", "x")["thread"]
        assert uwf.exec(suggested).document["steps"][0]["agent"] == "human"
        chosen = uwf.start("pair", "x", agent="mock")["thread"]
        assert uwf.exec(chosen).document["steps"][0]["agent"] == "mock"


@pytest.mark.parametrize("blocked", [False, True])
def test_an_agent_and_a_model_that_the_user_lacks_are_replaced_by_the_default_and_reported(
    project: Project, blocked: bool
) -> None:
    name = "human" if blocked else "nobody"
    pair(project, f"agent: {name}\n    model: nothing")
    if blocked:
        project.env["UWF_BLOCK_PLUGINS"] = "human"
    outcome = project.uwf("run", "pair", "-p", "x")
    assert "the agent that the role writer suggests is replaced by the default: " in outcome.stderr
    assert name in outcome.stderr
    assert "unknown model 'nothing'" in outcome.stderr
    assert outcome.document["steps"][0]["agent"] == "mock"


def test_a_command_line_as_a_suggestion_is_never_run(project: Project) -> None:
    """Check rejects it in a file, but a bundle can contain such a workflow."""

    pair(project)
    with project.client() as uwf:
        engine = uwf._engine
        ref = uwf.start("pair", "x")["workflow"]
        payload = dict(engine.store.get(ref).payload)
        writer = {**payload["roles"]["writer"], "agent": f"touch {project.folder}/done"}
        payload["roles"] = {**payload["roles"], "writer": writer}
        hostile = engine.store.put(engine.store.get(ref).type, payload)
        thread = uwf.start(hostile, "x")["thread"]
        assert uwf.exec(thread).document["steps"][0]["agent"] == "mock"
    assert not (project.folder / "done").exists()


@pytest.mark.parametrize(
    ("suggested", "of_call", "used"),
    [
        (None, None, "small"),
        ("large", None, "large"),
        ("large", "small", "small"),
        ("unknown", None, "small"),
    ],
)
def test_the_model_of_a_role_is_weaker_than_that_of_the_call(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    suggested: str | None,
    of_call: str | None,
    used: str,
) -> None:
    pair(project)
    project.config(MODELS)
    with project.client(default_model=of_call) as uwf:
        model = model_of(uwf._engine, {"model"}, suggested)
        assert model is not None and model.alias == used
        assert model_of(uwf._engine, (), suggested) is None
