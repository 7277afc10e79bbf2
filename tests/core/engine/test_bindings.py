"""`--agent ROLE=AGENT`: a thread binds its roles, and those of the threads that it calls."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from uwf_core.client import Client
from uwf_core.errors import UnknownIdError, UsageError
from uwf_core.testing.project import Project

INNER = """
version: 1
name: inner
roles:
  writer: {goal: g, frontmatter: {properties: {$status: {const: done}}, required: [$status]}}
  judge:
    human: true
    goal: g
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: writer, prompt: Begin.}
    resume: {role: writer, prompt: Again.}
  writer:
    done: {role: judge, prompt: Judge.}
  judge:
    done: {role: $END, prompt: Done.}
"""
OUTER = """
version: 1
name: outer
roles:
  writer: {goal: g, frontmatter: {properties: {$status: {const: done}}, required: [$status]}}
  develop: {workflow: inner.yaml}
graph:
  $START:
    new: {role: writer, prompt: Begin.}
    resume: {role: writer, prompt: Again.}
  writer:
    done: {role: develop, prompt: Develop.}
  develop:
    done: {role: $END, prompt: Done.}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.workflow("inner", INNER)
    project.workflow("outer", OUTER)
    project.config("agents:\n  other: {use: mock}\n")
    project.script([{"role": "writer", "output": {"$status": "done"}}] * 2)
    return project


@pytest.fixture
def uwf(project: Project) -> Iterator[Client]:
    with project.client() as client:
        yield client


def test_a_binding_of_a_role_is_stronger_than_that_of_all_roles(
    project: Project, uwf: Client
) -> None:
    started = project.uwf(
        *("thread", "start", "outer", "-p", "x"), *("--agent", "writer=human", "--agent", "mock")
    )
    thread = started.document["thread"]
    shown = project.uwf("thread", "show", thread).document
    assert (shown["agent"], shown["bindings"]) == ("mock", {"writer": "human"})
    assert uwf.exec(thread).document["steps"][0]["agent"] == "human"


def test_a_called_thread_gets_the_rest_of_the_paths(project: Project, uwf: Client) -> None:
    bindings = {"develop": "mock", "develop/judge": "other"}
    thread = uwf.start("outer", "x", agent="other", bindings=bindings)["thread"]
    assert uwf.exec(thread).document["steps"][0]["agent"] == "mock"
    child = uwf.exec(thread).document["steps"][0]["thread"]
    shown = uwf.show(child)
    assert (shown["agent"], shown["bindings"]) == ("mock", {"judge": "other"})
    project.script(
        [{"role": "writer", "output": {}}, {"role": "judge", "output": {"$status": "done"}}]
    )
    outcome = uwf.exec(thread, until_done=True)
    assert outcome.document["status"] == "completed", "an agent played the person's role"
    forked = uwf.fork(uwf.steps(child)[1]["step"])["thread"]
    assert uwf.show(forked)["bindings"] == {"judge": "other"}


def test_an_agent_for_all_roles_does_not_replace_a_person(uwf: Client) -> None:
    thread = uwf.start("outer", "x", agent="mock")["thread"]
    outcome = uwf.exec(thread, until_done=True)
    assert (outcome.exit_code, outcome.document["status"]) == (3, "suspended")


@pytest.mark.parametrize(
    ("bindings", "said"),
    [
        ({"writr": "mock"}, "unknown role 'writr'"),
        ({"develop/judg": "mock"}, "unknown role 'judg'"),
        ({"develop/writer": "nobody"}, "unknown agent 'nobody'"),
    ],
)
def test_a_wrong_binding_leaves_no_thread_behind(
    uwf: Client, bindings: dict[str, str], said: str
) -> None:
    with pytest.raises(UnknownIdError, match=said):
        uwf.start("outer", "x", bindings=bindings)
    assert uwf.list() == []


def test_a_secret_in_a_binding_is_an_error(project: Project) -> None:
    project.env["A_TOKEN"] = "hunter2hunter2"
    with project.client() as uwf, pytest.raises(UsageError, match="secret"):
        uwf.start("outer", "x", bindings={"writer": "./agent --key hunter2hunter2"})


SPREAD = """
version: 1
name: spread
roles:
  writer: {goal: g, frontmatter: {properties: {$status: {const: done}}, required: [$status]}}
  reader:
    goal: g
    tools: []
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
  other:
    goal: g
    tools: []
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
  third:
    goal: g
    tools: []
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: writer, prompt: Begin.}
    resume: {role: writer, prompt: Again.}
  writer:
    done:
      parallel:
        one: {role: reader, prompt: Read.}
        two: {role: other, prompt: Read.}
        three: {role: third, prompt: Read.}
      then:
        $mixed: {role: $END, prompt: Done.}
"""
DONE = [{"role": name, "output": {"$status": "done"}} for name in ("writer", "third")]


@pytest.mark.parametrize("is_published", [False, True])
def test_a_role_that_only_branches_play_has_bindings_and_overrides(
    project: Project, is_published: bool
) -> None:
    """The generated workflow of a branch has the name of its parent, so its overrides hold."""
    file = project.workflow("spread", SPREAD)
    if is_published:
        project.uwf("workflow", "add", str(file))
        file.unlink()
    project.config("agentOverrides: {spread: {reader: human}}\n")
    project.script(DONE, by_role=True)
    with project.client() as uwf:
        thread = uwf.start("spread", "x", bindings={"other": "human"})["thread"]
        steps = uwf.exec(thread, until_done=True).document["steps"]
        agents = {step["role"]: step["agent"] for step in steps}
        assert agents == {"writer": "mock", "reader": "human", "other": "human", "third": "mock"}
        with pytest.raises(UnknownIdError) as error:
            uwf.start("spread", "x", bindings={"nobody": "second"})
        assert sorted(str(error.value.hint).removeprefix("known: ").split(", ")) == [
            *("other", "reader", "third", "writer")
        ]
