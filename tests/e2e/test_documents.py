"""The keys of every JSON document, as programs rely on them, from one whole life of a workflow.

The life is lived once, by `lived`; each test looks at what its commands printed.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from uwf_core.testing.project import CommandOutcome, Project

STARTED = {"workflow", "workflowName", "thread"}
EXEC = {
    *("thread", "workflow", "workflowName", "steps", "status", "done"),
    *("suspendReason", "waitingFor", "waitingUntil", "suspendMessage"),
}
STEP_RESULT = {
    *("step", "role", "agent", "alias", "status", "currentRole", "suspendedRole", "suspendMessage"),
    *("suspendReason", "waitingFor", "waitingUntil", "done", "durationMs", "usage", "failure"),
    *("answered", "thread", "notices"),
}
ROW = {
    *("thread", "workflow", "workflowName", "cwd", "head", "status", "currentRole"),
    *("suspendedRole", "suspendMessage", "suspendReason", "waitingFor", "waitingUntil"),
    *("done", "steps", "usage", "running"),
    *("startedAtMs", "updatedAtMs", "depth", "parent", "original"),
    *("tags", "task"),
}
SHOWN = ROW | {
    *("worktree", "compacted", "files", "notices", "result"),
    *("input", "agent", "bindings", "form", "next", "hint", "stack", "children"),
}
USAGE = {
    *("turns", "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"),
    *("costUsd", "durationMs", "atLeast"),
}
STEP_ROW = {
    *("step", "number", "role", "agent", "alias", "status", "startedAtMs", "completedAtMs"),
    *("durationMs", "usage", "attempts", "denials", "answered", "childThread"),
    "branches",
}
STEP = {
    *("step", "thread", "seq", "number", "role", "agent", "alias", "agentVersion", "engineVersion"),
    *("model", "proof", "stopReason", "status", "output", "body", "failure", "prev", "startedAtMs"),
    *("completedAtMs", "durationMs", "usage", "denials", "corrections", "previousAttempts", "next"),
    *("session", "attempt", "call", "files", "delivered", "childThread", "answered", "turns"),
    *("start", "workflow", "raw", "detail", "extractor", "ancestors", "toolList", "notices"),
}
TURN = {
    *("step", "number", "role", "index", "speaker", "text", "reasoning", "toolCalls", "usage"),
}
ANSWER = {"step", "thread", "role", "agent", "answer", "continuation", "session", "usage"}
CHECK = {"name", "state", "message", "hint"}
LOG = {
    *("version", "id", "atMs", "command", "cwd", "thread", "exitCode", "durationMs", "pid", "uwf"),
    "error",
}


def says(role: str, status: str, **fields: Any) -> Mapping[str, Any]:
    return {"role": role, "output": {"$status": status, **fields}}


class Life:
    """What each command of a workflow's life printed, by a name for it."""

    def __init__(self, root: Path, workflow: str) -> None:
        self.project = Project(root)
        self.project.workflow("pair", workflow)
        self.said: dict[str, CommandOutcome] = {}
        self._live()

    def __getitem__(self, name: str) -> Any:
        return self.said[name].document

    def do(self, name: str, *words: str, code: int = 0, stdin: str = "") -> Any:
        outcome = self.project.uwf(*words, stdin=stdin)
        assert outcome.exit_code == code, (words, outcome)
        self.said[name] = outcome
        return outcome

    def _live(self) -> None:
        written = says("writer", "done", text="x")
        self.project.script(
            [
                written,
                says("reader", "rejected", comments="no"),
                written,
                says("reader", "unsure", question="Which?"),
                says("reader", "approved"),
            ]
        )
        file = ".workflow/pair.yaml"
        self.do("check", "workflow", "check", file)
        self.do("add", "workflow", "add", file)
        self.do("workflows", "workflow", "list")
        self.do("workflow", "workflow", "show", "pair")
        self.do("graph", "workflow", "graph", "pair", "--format", "json")
        thread = self.do("start", "thread", "start", "pair", "-p", "x").document["thread"]
        self._look(thread)
        self.do("poke", "thread", "poke", thread, "-p", "again")
        self.do("suspend", "thread", "exec", thread, "--until-done", code=3)
        self.do("suspended", "thread", "show", thread)
        self.do("resume", "thread", "resume", thread, "-p", "this")
        self.do("run", "run", "pair", "-p", "x", code=3)
        self._control(thread)

    def _look(self, thread: str) -> None:
        self.do("exec", "thread", "exec", thread)
        step = self["exec"]["steps"][0]["step"]
        self.do("show", "thread", "show", thread)
        self.do("list", "thread", "list")
        self.do("read", "thread", "read", thread, "--format", "json")
        self.do("steps", "step", "list", thread)
        self.do("step", "step", "show", step)
        self.do("step read", "step", "read", step, "--format", "json")
        self.do("prompt", "step", "read", step, "--prompt", "--format", "json")
        self.do("turns", "step", "turns", thread)
        self.do("ask", "step", "ask", step, "-p", "why")
        self.do("fork", "step", "fork", step)
        self.do("thread fork", "thread", "fork", step)

    def _control(self, done: str) -> None:
        fork = self["fork"]["thread"]
        self.do("background", "thread", "exec", fork, "--background")
        self.do("wait", "thread", "wait", fork)
        self.do("stop", "thread", "stop", fork)  # `tick` would continue it
        self.do("stop", "thread", "stop", fork, code=2)
        self.do("cancel", "thread", "cancel", fork)
        self.do("rm", "thread", "rm", done)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory, pair_text: str) -> Life:
    return Life(tmp_path_factory.mktemp("life"), pair_text)


@pytest.fixture
def printed(lived: Life) -> Any:
    """Calls `uwf` where the life was lived, and gives the document."""

    def call(*words: str, stdin: str = "") -> Any:
        outcome = lived.project.uwf(*words, stdin=stdin)
        assert outcome.exit_code == 0, outcome
        return outcome.document

    return call


def test_check_and_add(lived: Life):
    """A warning alone leaves a workflow valid."""
    assert lived["check"]["valid"] is True
    (warning,) = lived["check"]["problems"]
    assert (warning["severity"], warning["code"]) == ("warning", "template-optional-field")
    assert set(lived["add"]) == {"name", "workflow"}


def test_a_problem_says_what_where_and_the_cure(lived: Life):
    (lived.project.folder / "bad.yaml").write_text("version: 1\nname: bad\n")
    told = lived.project.uwf("workflow", "check", "bad.yaml")
    assert (told.exit_code, told.document["valid"]) == (4, False)
    keys = {"severity", "code", "file", "line", "column", "message", "hint"}
    assert all(set(each) == keys for each in told.document["problems"])


def test_workflow_list_and_show(lived: Life):
    assert [set(each) for each in lived["workflows"]["workflows"]] == [
        {"name", "workflow", "source", "description"}
    ]
    assert lived["workflows"]["workflows"][0]["workflow"] == lived["add"]["workflow"]
    shown = lived["workflow"]
    assert set(shown) == {
        *("workflow", "version", "name", "description", "roles", "graph", "limits", "input"),
        *("bound", "workspace", "record"),
    }
    assert set(shown["roles"]["writer"]) == {
        *("description", "goal", "capabilities", "procedure", "output", "frontmatter"),
        *(
            "timeout",
            "tools",
            "skills",
            "memory",
            "workflow",
            "program",
            "within",
            "expired",
            "human",
            "agent",
            "model",
            "limits",
            "reserve",
            "retry",
        ),
    }
    assert set(shown["graph"]["$START"]) == {"new", "resume"}
    assert set(shown["graph"]["writer"]["done"]) == {"role", "prompt", "location"}, "the set keys"
    limits = {"maxSteps", "maxTokens", "maxCostUsd", "maxMinutes", "maxElapsed"}
    assert set(shown["limits"]) == limits
    assert lived["graph"]["graph"].startswith("flowchart")


@pytest.mark.parametrize("name", ["start", "fork", "thread fork"])
def test_what_makes_a_thread(name: str, lived: Life):
    assert set(lived[name]) == STARTED
    assert lived[name]["workflow"] == lived["add"]["workflow"]
    assert lived[name]["workflowName"] == "pair"


@pytest.mark.parametrize("name", ["exec", "poke", "suspend", "resume", "run", "wait", "background"])
def test_what_runs_a_thread(name: str, lived: Life):
    assert set(lived[name]) == EXEC
    for step in lived[name]["steps"]:
        assert set(step) == STEP_RESULT
        assert set(step["usage"]) == USAGE
    assert len(lived["suspend"]["steps"]) == 3
    assert lived["background"]["steps"] == []
    assert lived["background"]["status"] == "running"


@pytest.mark.parametrize("name", ["show", "suspended", "cancel"])
def test_a_thread(name: str, lived: Life):
    assert set(lived[name]) == SHOWN
    assert isinstance(lived[name]["steps"], int)
    assert all(isinstance(lived[name][key], int) for key in ("startedAtMs", "updatedAtMs"))
    assert lived["suspended"]["suspendedRole"] == "reader"
    assert lived["suspended"]["suspendMessage"] == "Which?"
    assert lived["suspended"]["suspendReason"] == "role"


def test_a_row_of_list_is_show_without_form_and_hint(lived: Life):
    (row,) = lived["list"]["threads"]
    assert set(row) == ROW
    assert row == {key: lived["show"][key] for key in ROW}


def test_documents_to_read_come_as_json_when_asked_for(lived: Life):
    assert set(lived["read"]) == {"thread", "text"}
    assert set(lived["step read"]) == set(lived["prompt"]) == {"step", "text"}


def test_steps_begin_with_the_start(lived: Life):
    rows = lived["steps"]["steps"]
    assert all(set(row) == STEP_ROW for row in rows)
    assert [(row["number"], row["role"]) for row in rows] == [(0, "$START"), (1, "writer")]


def test_a_step_and_its_turns(lived: Life):
    assert set(lived["step"]) == STEP
    assert lived["turns"]["turns"] == lived["step"]["turns"] != []
    assert all(set(turn) == TURN for turn in lived["step"]["turns"])


def test_an_answer(lived: Life):
    assert set(lived["ask"]) == ANSWER


def test_a_removed_thread_is_forgotten(lived: Life, printed: Any):
    left = {row["thread"] for row in printed("thread", "list", "--all")["threads"]}
    assert lived["rm"].keys() == {*("thread", "status", "steps", "head", "removed", "worktrees")}
    assert lived["rm"]["thread"] not in left
    assert lived["fork"]["thread"] in left
    assert lived["fork"]["thread"] not in {
        row["thread"] for row in printed("thread", "list")["threads"]
    }
    told = lived.project.uwf("thread", "show", lived["rm"]["thread"])
    assert (told.exit_code, told.stdout) == (2, "")


def test_an_error_is_a_document_on_stderr(lived: Life):
    error = lived.said["stop"].error
    assert set(error) == {"code", "message", "where", "hint", "exitCode"}
    assert (error["exitCode"], lived.said["stop"].stdout) == (2, "")


def test_settings(printed: Any):
    shown = printed("config", "show")
    assert set(shown) == {
        *(
            "providers",
            "models",
            "agents",
            "defaultAgent",
            "agentOverrides",
            "defaultModel",
            "retry",
            "questions",
        ),
        *(
            "modelOverrides",
            "waitLimits",
            "notify",
            "web",
            "worker",
            "workspace",
            "store",
            "workflowPaths",
            "allowedFolders",
            "plugins",
            "extractors",
            "limits",
        ),
    }
    origins = printed("config", "show", "--origin")["settings"]
    assert all(set(each) == {"key", "value", "origin", "place"} for each in origins)
    assert printed("config", "get", "store") == {"key": "store", "value": "sqlite:store.db"}
    assert set(printed("config", "set", "limits.runSeconds", "60")) == {"key", "value", "file"}
    assert set(printed("config", "path")) == {"home", "file", "project", "plugins", "trusted"}
    assert set(printed("config", "trust")) == {"trusted"}


def test_nodes(lived: Life, printed: Any):
    step = lived["step"]["step"]
    other = lived["fork"]["thread"]
    step = printed("step", "list", other)["steps"][1]["step"]
    node = printed("cas", "get", step)
    assert set(node) == {"ref", "type", "payload", "createdAtMs"}
    assert node["payload"]["role"] == "writer"
    assert printed("cas", "has", step) == {"ref": step, "has": True}
    assert set(printed("cas", "refs", step)) == {"ref", "refs"}
    walked = printed("cas", "walk", step)["refs"]
    assert walked[0] == step
    assert node["type"] in walked
    hashed = printed("cas", "hash", "string", "-", stdin='"x"')
    assert printed("cas", "put", "string", "-", stdin='"x"') == hashed
    assert set(hashed) == {"ref"}


def test_types(lived: Life, printed: Any):
    (lived.project.folder / "type.json").write_text('{"title": "Note", "type": "string"}')
    added = printed("cas", "schema", "add", "type.json")
    assert set(added) == {"type"}
    assert {"type": added["type"], "title": "Note"} in printed("cas", "schema", "list")["schemas"]
    shown = printed("cas", "schema", "show", added["type"])
    assert shown == {**added, "schema": {"title": "Note", "type": "string"}}


def test_the_log_tells_of_every_command_that_ran_or_changed_something(lived: Life, printed: Any):
    entries = printed("log", "list", "--limit", "200")["entries"]
    assert all(set(each) == LOG for each in entries)
    logged = {" ".join(each["command"][:2]) for each in entries}
    assert logged >= {"workflow add", "thread start", "thread exec", "thread rm", "run pair"}
    assert not logged & {"thread show", "thread list", "step show", "workflow check"}
    stops = [each["exitCode"] for each in entries if each["command"][:2] == ["thread", "stop"]]
    assert stops == [0], "what is refused changes nothing, not even the log"
    waited = next(each for each in entries if each["command"][:2] == ["run", "pair"])
    assert waited["exitCode"] == 3
    assert set(printed("log", "show", waited["id"])) == LOG | {"traceback"}


def test_agents_plugins_and_the_doctor(printed: Any):
    agents = printed("agent", "list")["agents"]
    assert {each["name"] for each in agents} >= {"mock", "human"}
    assert {"distribution", "version", "status", "reason", "capabilities"} <= set(agents[0])
    assert printed("agent", "check", "mock")["ready"] is True
    plugins = printed("plugin", "list")["plugins"]
    assert all(
        set(each)
        == {"name", "group", "distribution", "version", "summary", "file", "status", "reason"}
        for each in plugins
    )
    told = printed("doctor")
    assert (set(told), told["healthy"]) == ({"healthy", "checks"}, True)
    assert all(set(each) == CHECK for each in told["checks"])


def test_yaml_says_the_same_as_json(lived: Life):
    from uwf_core.yaml.source import parse_yaml

    thread = lived["fork"]["thread"]
    for words in (("thread", "show", thread), ("step", "list", thread), ("workflow", "list")):
        told = lived.project.uwf(*words, "--format", "yaml").stdout
        assert parse_yaml(told, file="stdout") == lived.project.uwf(*words).document
