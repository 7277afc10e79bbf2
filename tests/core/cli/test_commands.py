"""What the commands print: one document each, by the keys that are promised."""

import json

import pytest
from cli_kit import APPROVED, WORKFLOW, WROTE
from tests.beside import beside

from uwf_core.ids import Ref
from uwf_core.operations.rows import Noun, own_commands

COMMANDS = own_commands().rows

STEP_RESULT = {
    "thread", "step", "role", "agent", "alias", "status", "currentRole", "suspendedRole",
    "suspendMessage",
    "suspendReason", "waitingFor", "waitingUntil", "done", "durationMs", "usage", "failure",
    "answered", "notices",
}  # fmt: skip
ROW = {
    "thread", "workflow", "workflowName", "cwd", "head", "status", "currentRole", "suspendedRole",
    "suspendMessage", "suspendReason", "waitingFor", "waitingUntil", "done", "steps", "usage",
    "running",
}  # fmt: skip


def test_a_thread_from_start_to_end_in_json(uwf, project):
    started = uwf("thread", "start", "pair", "-p", "x").document
    assert set(started) == {"workflow", "workflowName", "thread"}
    assert Ref.matches(started["workflow"])
    first = uwf("thread", "exec", started["thread"][:20]).document
    assert set(first) >= {"thread", "workflow", "steps", "status", "done"}
    assert set(first["steps"][0]) == STEP_RESULT
    assert (first["status"], first["steps"][0]["currentRole"]) == ("idle", "reviewer")
    shown = uwf("thread", "show", "@last").document
    assert (shown["task"], shown["cwd"]) == ("x", str(project.folder))
    assert set(shown) >= ROW | {"form", "next", "hint"}
    listed = uwf("thread", "list").document["threads"][0]
    assert set(listed) == set(shown) - {
        *("worktree", "compacted", "result", "files", "notices"),
        *("input", "agent", "bindings", "form", "stack", "children", "next", "hint"),
    }
    last = uwf("thread", "exec", "@last", "-c", "5").document
    assert (last["status"], last["done"], len(last["steps"])) == ("completed", True, 1)
    again = uwf("thread", "exec", "@last")
    assert (again.code, again.document["steps"]) == (0, [])
    assert uwf("thread", "rm", "@last").code == 0
    assert uwf("thread", "list", "--all").document == {"threads": []}


def test_documents_are_markdown_unless_json_is_asked_for(uwf):
    uwf("run", "pair", "-p", "my task")
    text = uwf("thread", "read", "@last").out
    assert text.startswith("# pair")
    assert "my task" in text
    step = uwf("step", "list", "@last").document["steps"][1]["step"]
    assert "I wrote it." in uwf("step", "read", step).out
    assert "my task" in uwf("step", "read", step, "--prompt").out
    assert uwf("thread", "read", "@last", "--format", "json").document["text"] == text
    assert uwf("workflow", "graph", "pair").out.startswith("flowchart TD\n")
    assert "left out" in uwf("thread", "read", "@last", "--quota", "1").out


def test_a_failed_run_still_prints_what_it_did(uwf, project):
    project.script([{"role": "writer", "fail": {"kind": "crashed", "message": "boom"}}])
    answer = uwf("run", "pair", "-p", "x")
    assert answer.code == 6
    assert answer.document["steps"][0]["failure"]["kind"] == "crashed"
    project.script([{"role": "writer", "garbage": True}])
    assert uwf("thread", "exec", "@last").code == 4


def test_poke_fork_ask_and_resume(uwf, project):
    project.script([{"role": "writer", "outputs": [WROTE["output"]] * 3}, APPROVED, WROTE])
    thread = uwf("thread", "start", "pair", "-p", "x").document["thread"]
    step = uwf("thread", "exec", thread).document["steps"][0]["step"]
    poked = uwf("thread", "poke", thread, "-p", "more").document["steps"][0]["step"]
    assert uwf("step", "show", poked).document["attempt"]["replaces"] == step
    asked = uwf("step", "ask", poked, "-p", "why?").document
    assert asked["continuation"] == "original"
    assert (
        "reconstructed" in uwf("step", "ask", poked, "-p", "?", "--no-fork", "--format", "text").out
    )
    for noun in ("step", "thread"):
        forked = uwf(noun, "fork", poked).document
        assert forked["thread"] != thread
        assert set(forked) == {"workflow", "workflowName", "thread"}
    assert uwf("thread", "exec", thread).document["status"] == "completed"
    assert uwf("thread", "resume", thread, "-p", "again").document["steps"][0]["role"] == "writer"
    assert uwf("thread", "cancel", thread).document["status"] == "cancelled"


def test_workflows_of_the_project_and_the_registry(uwf, project):
    listed = uwf("workflow", "list").document["workflows"]
    assert listed == [
        {"name": "pair", "workflow": None, "source": "local",
         "description": "One writes, one reviews."}
    ]  # fmt: skip
    added = uwf("workflow", "add", ".workflow/pair.yaml").document
    assert set(added) == {"name", "workflow"}
    assert uwf("workflow", "add", ".workflow/pair.yaml").document == added
    shown = uwf("workflow", "show", "pair").document
    assert (shown["workflow"], list(shown["roles"])) == (added["workflow"], ["writer", "reviewer"])
    by_file = uwf("workflow", "show", "./.workflow/pair.yaml").document
    assert by_file == shown
    assert uwf("workflow", "show", "pair", "--format", "text").out.startswith("workflow: ")


def test_a_local_workflow_hides_the_registrys_only_in_a_trusted_folder(uwf, project):
    """What `workflow list` shows is what `thread start` takes."""
    ref = uwf("workflow", "add", ".workflow/pair.yaml").document["workflow"]
    project.workflow("pair", WORKFLOW.replace("One writes", "Somebody else writes"))
    listed = uwf("workflow", "list")
    assert listed.document["workflows"][0]["source"] == "registry"
    assert "uwf config trust" in listed.err
    assert uwf("thread", "start", "pair", "-p", "x").document["workflow"] == ref
    trusted = uwf("config", "trust").document["trusted"]
    assert trusted == str(project.folder.resolve())
    assert uwf("workflow", "list").document["workflows"][0]["source"] == "local"
    assert uwf("thread", "start", "pair", "-p", "x").document["workflow"] != ref


def test_the_store_as_it_is(uwf, project):
    (project.folder / "p.json").write_text('"some text"')
    ref = uwf("cas", "hash", "string", "p.json").document["ref"]
    assert (uwf("cas", "has", ref).code, uwf("cas", "has", ref).document["has"]) == (1, False)
    assert uwf("cas", "put", "string", "p.json").document["ref"] == ref
    assert uwf("cas", "has", ref).code == 0
    node = uwf("cas", "get", ref[:6]).document
    assert (node["ref"], node["payload"]) == (ref, "some text")
    assert uwf("cas", "get", ref, "--format", "text").out.endswith("\nsome text\n")
    (project.folder / "s.json").write_text('{"type": "string", "maxLength": 3, "title": "short"}')
    type_ = uwf("cas", "schema", "add", "s.json").document["type"]
    assert uwf("cas", "schema", "show", type_).document["schema"]["maxLength"] == 3
    assert {"type": type_, "title": "short"} in uwf("cas", "schema", "list").document["schemas"]
    refused = uwf("cas", "put", type_, "p.json")
    assert (refused.code, refused.out, refused.error["code"]) == (4, "", "invalid-payload")
    uwf("run", "pair", "-p", "x")
    head = uwf("thread", "show", "@last").document["head"]
    near = uwf("cas", "refs", head).document["refs"]
    far = uwf("cas", "walk", head).document["refs"]
    assert far[0] == head
    assert set(near) < set(far)


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", "{", "", "1" * 30, "[" * 3000 + "]" * 3000, '[{"a": 1, "a": 2}]']
)
def test_what_is_no_payload_is_refused(uwf, project, text):
    (project.folder / "p.json").write_text(text)
    answer = uwf("cas", "put", "array" if text[:1] == "[" else "number", "p.json")
    assert (answer.code, answer.out) == (4, "")
    assert "Traceback" not in answer.err


def test_settings_are_shown_set_and_traced_to_their_origin(uwf, project):
    file = project.config(
        "# mine\ndefaultModel: m  # kept\nproviders:\n  p: {apiKey: abcdefghij}\n"
    )
    assert uwf("config", "set", "limits.runSeconds", "60").document["value"] == 60
    assert "# kept" in file.read_text()
    assert uwf("config", "get", "limits.runSeconds", "--format", "text").out == "60\n"
    shown = uwf("config", "show").out + uwf("config", "get", "providers").out
    assert "abcdefghij" not in shown
    rows = {row["key"]: row for row in uwf("config", "show", "--origin").document["settings"]}
    assert rows["limits.runSeconds"]["origin"] == "user"
    assert rows["defaultAgent"]["origin"] == "environment"
    assert uwf("config", "path", "--format", "text").out == f"{file}\n"
    refused = uwf("config", "set", "limits.runSeconds", "soon")
    assert (refused.code, refused.out) == (2, "")


def test_an_entry_can_be_unset(uwf, project):
    for key, value in {"agents.b": "{use: mock}", "models.m": "{name: m-1}"}.items():
        assert uwf("config", "set", key, value).code == 0
        unset = uwf("config", "set", key, "null")
        assert unset.code == 0
        file = str(project.home / "config.yaml")
        assert unset.document == {"key": key, "value": None, "file": file}
        assert uwf("config", "get", key).code == 2
    assert uwf("config", "show").document["agents"] == {}


def test_a_store_that_is_not_installed_is_refused_and_its_setting_named(uwf, project):
    refused = uwf("config", "set", "store", "foo:bar").error
    assert refused["exitCode"] == 2
    assert (refused["message"], refused["where"]) == ("unknown store 'foo'", "store")
    assert "sqlite" in refused["hint"]
    assert "memory" in refused["hint"]
    file = project.config("defaultAgent: mock\nstore: foo:bar\n")
    stopped = uwf("thread", "list").error
    assert stopped["message"] == "unknown store 'foo'"
    assert stopped["where"] == f"store ({file}:2)"
    assert stopped["hint"].endswith("; next: uwf config set store sqlite:store.db")
    assert uwf("config", "set", "store", "sqlite:store.db").code == 0
    assert uwf("thread", "list").code == 0


def test_setup_of_an_agent_alone_needs_no_provider_and_keeps_the_rest(uwf, project):
    project.config("defaultAgent: mock\nlimits: {depth: 2}  # as it was\n")
    done = uwf("setup", "--agent", "human")
    assert (done.code, done.document["agent"], done.document["model"]) == (0, "human", None)
    written = (project.home / "config.yaml").read_text()
    assert written == "defaultAgent: human\nlimits: {depth: 2}  # as it was\n"
    refused = uwf("setup", "--agent", "humann")
    assert (refused.code, refused.out) == (2, "")
    assert (project.home / "config.yaml").read_text() == written


def test_setup_says_at_once_that_the_program_of_an_agent_is_not_installed(uwf, project):
    project.config("agents: {gone: {command: /not/there}}\n")
    done = uwf("setup", "--agent", "gone")
    assert (done.code, done.document["agent"], done.document["agentReady"]) == (0, "gone", False)
    assert "agent 'gone' is not ready: program '/not/there' not found" in done.err
    assert "hint: correct its `command` in the configuration, or install it" in done.err
    assert uwf("setup", "--agent", "human").document["agentReady"] is True


def test_setup_writes_a_provider_and_never_prints_its_key(uwf, project):
    answer = uwf(
        "setup",
        "--provider",
        "openai",
        "--api-key",
        "sk-abcdefghijkl",
        "--model",
        "large",
        "--agent",
        "human",
        "--no-trial",
    )
    assert answer.code == 0
    assert "sk-abcdefghijkl" not in answer.out + answer.err
    assert "sk-abcdefghijkl" in (project.home / ".env").read_text()
    assert not (project.home / "logs").exists()
    assert uwf("config", "get", "defaultModel").document["value"] == "large"


def test_agents_are_listed_without_loading_and_checked_by_loading(uwf, project):
    project.config("agents:\n  me: {use: human}\n  tool: {command: /nonexistent/x}\n")
    rows = {each["name"]: each for each in uwf("agent", "list").document["agents"]}
    assert rows["mock"]["distribution"] == "uwf-core"
    assert (rows["me"]["use"], rows["me"]["status"]) == ("human", "ready")
    assert (rows["tool"]["status"], rows["mock"]["default"]) == ("not installed", True)
    checked = uwf("agent", "check", "mock").document
    assert checked["ready"]
    assert "continue" in checked["capabilities"]
    missing = uwf("agent", "check", "tool")
    assert (missing.code, missing.document["ready"]) == (6, False)
    assert "me" in uwf("agent", "list", "--format", "text").out


def test_doctor_looks_at_everything(uwf, project, monkeypatch):
    monkeypatch.setenv("UWF_BLOCK_PLUGINS", beside())
    answer = uwf("doctor")
    assert answer.code == 0, answer.out
    checks = {each["name"]: each["state"] for each in answer.document["checks"]}
    assert {"uwf", "platform", "home", "configuration", "store", "default agent"} <= set(checks)
    project.config("nonsense: 1\n")
    broken = uwf("doctor")
    assert (broken.code, broken.document["healthy"]) == (1, False)
    states = {each["name"]: each["state"] for each in broken.document["checks"]}
    assert states["configuration"] == "error"
    assert "✗ configuration: " in uwf("doctor", "--format", "text").out


def test_the_demo_repairs_a_program(uwf, tmp_path):
    answer = uwf("demo", "--dir", str(tmp_path / "demo"))
    assert answer.code == 0, answer.err
    document = answer.document
    assert (document["testsBefore"]["green"], document["testsAfter"]["green"]) == (False, True)
    assert len(document["next"]) == 4


READING = ["thread list --all", "thread show @last", "step list @last", "step show @last",
           "step turns @last", "workflow list", "workflow show pair", "agent list", "plugin list",
           "config show", "config show --origin", "log list", "log show @last", "prompt list",
           "cas schema list", "schedule list", "config path", "config get limits"]  # fmt: skip


@pytest.mark.parametrize("form", ["text", "json", "yaml"])
def test_whatever_reads_answers_in_every_form(uwf, form):
    from uwf_core.yaml.source import parse_yaml

    uwf("run", "pair", "-p", "x")
    for call in READING:
        answer = uwf(*call.split(), "--format", form)
        assert answer.code == 0, f"{call}: {answer.err}"
        assert answer.out.strip(), call
        if form == "json":
            assert isinstance(json.loads(answer.out), dict), call
        if form == "yaml":
            document = uwf(*call.split(), "--format", "json").document
            assert parse_yaml(answer.out, file="out") == document, call


def test_every_reading_command_is_tried_in_every_form():
    reading = {"list", "show", "path", "get", "turns"}
    nouns = {name: entry.rows for name, entry in COMMANDS.items() if isinstance(entry, Noun)}
    calls = {f"{noun} {name}" for noun, rows in nouns.items() for name in rows if name in reading}
    tried = {" ".join(call.split()[:2]) for call in READING}
    assert calls - tried == {"cas get"}


def test_a_file_that_cannot_be_read_hides_no_fault_of_the_others(uwf, project):
    bad = project.workflow("bad", "version: 1\nname: bad\nroles: {}\n")
    good = project.folder / ".workflow" / "pair.yaml"
    alone = uwf("workflow", "check", "missing.yaml")
    assert (alone.code, alone.out) == (2, "")
    checked = uwf("workflow", "check", "missing.yaml", str(bad), "gone.yaml", str(good))
    assert checked.code == 2
    assert checked.document["valid"] is False
    assert "no-roles" in {each["code"] for each in checked.document["problems"]}
    assert {each["file"] for each in checked.document["problems"]} == {str(bad)}
    assert checked.error["where"] == "missing.yaml, gone.yaml"
    text = uwf("workflow", "check", "missing.yaml", str(good), "--format", "text")
    assert (text.code, text.out) == (2, "the others are valid\n")
    assert "where: missing.yaml" in text.err


@pytest.mark.parametrize("name", ["string", "object", "null"])
def test_a_built_in_type_can_be_named_by_its_reference(uwf, tmp_path, name):
    from uwf_core.cas.hashing import PRIMITIVES

    file = tmp_path / "payload.json"
    file.write_text({"string": '"x"', "object": "{}", "null": "null"}[name])
    by_name, by_ref = (uwf("cas", "hash", word, str(file)) for word in (name, PRIMITIVES[name]))
    assert (by_ref.code, by_ref.out) == (0, by_name.out)


def test_a_number_of_steps_and_until_done_exclude_each_other(uwf):
    for background in ((), ("--background",)):
        done = uwf("thread", "exec", "@last", "-c", "1", "--until-done", *background)
        assert (done.code, done.out) == (2, "")
        assert "cannot be combined" in done.error["message"]
