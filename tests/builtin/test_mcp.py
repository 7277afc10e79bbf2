"""Tools of MCP servers: the official SDK's server, and servers that misbehave."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from builtin_kit import DONE, turn, use

import uwf_explain
from uwf_agent_builtin.options import BuiltinOptions, McpServer
from uwf_core.api import AgentInterrupted, Cancel, Unavailable
from uwf_core.errors import ConfigError
from uwf_core.fields.records import read_options
from uwf_core.testing.project import Project
from uwf_testing.model_server import ScriptedModel

PROGRAMS = Path(__file__).parent / "programs"


def sdk(**more):
    pytest.importorskip("mcp")
    return McpServer(command=sys.executable, args=(str(PROGRAMS / "mcp_sdk_server.py"),), **more)


def hostile(how, **more):
    program = str(PROGRAMS / "mcp_hostile.py")
    return McpServer(command=sys.executable, args=("-S", program, how), **more)


def functions(desk):
    """The tools of servers that the model got."""
    tools = [each["function"] for each in desk._opened[0].requests[0].body["tools"]]
    return [each for each in tools if each["name"].startswith("mcp__")]


def offered(desk):
    return [each["name"] for each in functions(desk)]


def run(desk, server, *turns, **request):
    return desk.run(*turns, DONE, options={"mcp": {"s": server}}, **request)


def result_of(desk, server, name, **arguments):
    run(desk, server, turn(use(f"mcp__s__{name}", **arguments)))
    [call] = desk.sink.calls()
    return call


# -- the official server ---------------------------------------------------------------------------


def test_a_tool_of_the_official_server_is_called(desk):
    call = result_of(desk, sdk(), "add", a=2, b=3)
    assert (call.result, call.is_error) == ("2 + 3 = 5", False)
    assert offered(desk) == [
        f"mcp__s__{name}" for name in ("add", "environment", "fail", "long", "wide")
    ]


def test_arguments_that_do_not_fit_reach_no_server(desk):
    call = result_of(desk, sdk(), "add", a="two")
    assert call.is_error and "nothing was done" in call.result


def test_an_error_of_a_tool_is_an_answer_to_the_model(desk):
    call = result_of(desk, sdk(), "fail")
    assert (call.result, call.is_error) == ("Error executing tool fail", True)


@pytest.mark.parametrize("name", ["long", "wide"])
def test_a_result_is_at_most_32_kb(desk, name):
    call = result_of(desk, sdk(), name)
    assert 24_000 < len(call.result.encode()) <= 32 * 1024 and "left out" in call.result


def test_the_official_server_by_http(desk):
    pytest.importorskip("mcp")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    program = [sys.executable, str(PROGRAMS / "mcp_sdk_server.py"), str(port)]
    with subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        try:
            for _ in range(600):  # a busy machine takes seconds to import its SDK
                with socket.socket() as trial:
                    if trial.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            server = McpServer(url=f"http://127.0.0.1:{port}/mcp")
            call = result_of(desk, server, "add", a=2, b=3)
        finally:
            child.terminate()
    assert (call.result, call.is_error) == ("2 + 3 = 5", False)


def test_a_server_gets_the_variables_that_it_declares_and_no_other_secret(desk):
    desk.env |= {"NOTES_TOKEN": "token-of-the-notes", "OTHER_TOKEN": "token-of-another"}
    names = ("NOTES_TOKEN", "OTHER_TOKEN")
    both = turn(*(use("mcp__s__environment", variable=each) for each in names))
    run(desk, sdk(env=("NOTES_TOKEN",)), both)
    first, second = desk.sink.calls()
    assert first.result not in ("not set", "token-of-the-notes"), "it came, and is redacted"
    assert second.result == "not set"


def test_a_role_and_the_configuration_restrict_the_tools(desk):
    run(desk, sdk(tools=("add", "fail")), tools=("read_file", "mcp__s__add"))
    assert offered(desk) == ["mcp__s__add"]


def test_a_role_without_its_tools_starts_no_server(desk):
    assert run(desk, hostile("exit"), tools=("read_file",)).text == DONE


# -- servers that misbehave ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("hang", "did not answer initialize within 1 s"),
        ("exit", "no licence found"),
        ("endless", "more than 20 pages"),
        ("no-list", "without a list of tools"),
    ],
)
def test_a_server_that_does_not_start_makes_the_agent_unavailable(desk, how, words):
    server = desk.model(DONE)
    options = {"mcp": {"s": hostile(how, seconds=1.0 if how == "hang" else 20.0)}}
    with pytest.raises(Unavailable, match=words):
        desk.agent(**options).run(desk.request(server), desk.sink)
    assert not server.requests, "nothing is paid for"


def test_a_program_that_is_missing_makes_the_agent_unavailable(desk):
    with pytest.raises(Unavailable, match="cannot be started"):
        run(desk, McpServer(command="no-such-server"))


def test_garbage_before_an_answer_is_ignored(desk):
    assert result_of(desk, hostile("garbage"), "ok").result == "said"


def test_requests_of_a_server_are_answered_and_change_nothing(desk):
    assert result_of(desk, hostile("asks"), "ok").result == "said"
    answers = [json.loads(line) for line in (desk.work / "answers").read_text().splitlines()]
    assert answers[0]["error"]["code"] == -32601 and answers[1]["result"] == {}


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("call-hangs", "did not answer tools/call within"),
        ("call-exits", "killed by a bug"),
        ("call-floods", "ended before it answered"),
        ("call-error", "not today"),
    ],
)
def test_a_server_that_fails_in_a_call_is_an_answer_to_the_model(desk, how, words):
    call = result_of(desk, hostile(how, seconds=20.0 if how != "call-hangs" else 6.0), "ok")
    assert call.is_error and words in call.result


def test_content_that_is_not_text_is_named(desk):
    call = result_of(desk, hostile("call-strange"), "ok")
    assert call.result == "[content of the type 'image']\n[content of the type None]\nseen"


@pytest.mark.parametrize(
    ("how", "left_out"), [("huge", 1), ("names", 2), ("schemas", 4), ("many", 20)]
)
def test_tools_that_cannot_be_used_are_left_out_and_reported(desk, how, left_out):
    run(desk, hostile(how))
    if how == "many":
        assert len(offered(desk)) == 128
    elif how == "names":
        names = offered(desk)
        assert {"mcp__s__ok", "mcp__s__run_command"} < set(names), "not the one of the agent"
        assert len(names) == 5
        assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", name) for name in names)
    else:
        without_schema = ["mcp__s__none"] if how == "schemas" else []
        assert offered(desk) == [*without_schema, "mcp__s__ok"]
    notes = [each for each in desk.sink.notes() if "is left out" in each]
    assert len(notes) == left_out


def test_a_long_description_is_cut(desk):
    run(desk, hostile("injection"))
    [tool] = functions(desk)
    assert len(tool["description"]) == 2000


def test_what_a_server_starts_ends_with_the_call(desk):
    run(desk, hostile("child"))
    pid = int((desk.work / "child").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


class Silent:
    """A server that accepts connections and never answers."""

    def __enter__(self):
        self._socket = socket.create_server(("127.0.0.1", 0))
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/mcp"

    def __exit__(self, *_):
        self._socket.close()


def test_a_silent_address_makes_the_agent_unavailable(desk):
    with Silent() as url, pytest.raises(Unavailable, match="did not answer initialize within 1 s"):
        run(desk, McpServer(url=url, seconds=1.0))


def test_a_cancelled_run_does_not_wait_for_a_silent_address(desk):
    cancel, began = Cancel(), time.monotonic()
    threading.Timer(0.2, cancel.set, ["stop"]).start()
    with Silent() as url, pytest.raises(AgentInterrupted):
        run(desk, McpServer(url=url), cancel=cancel)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/x", "http://[", "http://127.0.0.1:9/"])
def test_an_address_that_is_none_makes_the_agent_unavailable(desk, url):
    with pytest.raises(Unavailable, match="the MCP server 's'"):
        run(desk, McpServer(url=url, seconds=5.0))


# -- the record ------------------------------------------------------------------------------------

TWICE = """\
version: 1
name: twice
roles:
  worker:
    goal: Work.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: more}}, required: [$status]}
        - {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: worker, prompt: Begin.}
    resume: {role: worker, prompt: Again.}
  worker:
    more: {role: worker, prompt: Go on.}
    done: {role: $END, prompt: Done.}
"""


def test_the_list_is_recorded_and_a_changed_one_is_a_notice(tmp_path):
    more = "---\n$status: more\n---\n"
    with ScriptedModel([more, more, DONE]) as model:
        project = Project(tmp_path)
        del project.env["UWF_DEFAULT_AGENT"]
        project.workflow("twice", TWICE)
        program = json.dumps(["-S", str(PROGRAMS / "mcp_hostile.py"), "changed"])
        project.config(
            f"providers: {{local: {{baseUrl: {model.openai_url}}}}}\n"
            "models: {scripted: {provider: local, name: m}}\ndefaultModel: scripted\n"
            "defaultAgent: coder\nagents:\n  coder:\n    use: builtin\n    options:\n"
            f"      mcp: {{s: {{command: {sys.executable}, args: {program}}}}}\n"
        )
        notices = []
        with project.client(on_notice=notices.append) as uwf:
            thread = uwf.start("twice", "The task.")["thread"]
            uwf.exec(thread, count=2)
            assert not [each for each in notices if "have changed" in each]
            (project.folder / "changed").touch()
            uwf.exec(thread, count=1)
            [notice] = [each for each in notices if "have changed" in each]
            assert notice.endswith("since step 2 of role worker: new: mcp__s__new")
            steps = [uwf.step(row["step"]) for row in uwf.steps(thread)[1:]]
            listed = json.loads(uwf.node(steps[2]["toolList"])["payload"])
            assert list(listed) == ["mcp__s__new", "mcp__s__ok"]
            assert steps[0]["toolList"] == steps[1]["toolList"] != steps[2]["toolList"]
            assert "the tools of servers had changed" in str(uwf_explain.why(uwf, thread))
            assert uwf.replay(thread)["verdict"] == "same"


@pytest.mark.parametrize(
    ("mcp", "words"),
    [
        ({"s": {}}, "needs a `command` or a `url`"),
        ({"s": {"command": "a", "url": "http://x"}}, "needs a `command` or a `url`"),
        ({"a_b": {"command": "a"}}, "is not a name"),
        ({"s": {"command": "a", "tols": []}}, "not a known key"),
    ],
)
def test_wrong_options_are_rejected(mcp, words):
    with pytest.raises(ConfigError, match=words):
        read_options(BuiltinOptions, {"mcp": mcp}, where="options")
