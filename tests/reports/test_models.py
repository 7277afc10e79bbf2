"""Public reports about model services, each played on uwf with a real run against a server that
applies the published rules of its protocol. The id of a case names its source.
"""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from uwf_core.testing.project import Project
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_script import ModelScript

ONE = """
version: 1
name: one
roles:
  writer:
    goal: Write a text.
    tools: [list_files, write_file]
    frontmatter:
      properties: {$status: {const: done}, text: {type: string}}
      required: [$status, text]
graph:
  $START:
    new: {role: writer, prompt: Write.}
    resume: {role: writer, prompt: Write again.}
  writer:
    done: {role: $END, prompt: Done.}
"""
DELIVERY = {"toolCalls": [{"name": "resolve", "arguments": {"$status": "done", "text": "fine"}}]}
HALF = "---\n$status: done\ntext: all good\n---\nThe first point holds. The second has a sev"
PROTOCOLS = {
    "openai-chat": "openai_url",
    "openai-responses": "openai_url",
    "anthropic": "anthropic_url",
    "gemini": "gemini_url",
}


def played(root: Path, protocol: str, *turns: Any, **more: Any) -> tuple[dict[str, Any], int, int]:
    """A run on these turns: its document with the step, its exit code, the number of requests."""
    project = Project(root)
    del project.env["UWF_DEFAULT_AGENT"]
    project.workflow("one", ONE)
    project.env["MODEL_KEY"] = "sk-of-the-model"
    with ScriptedModel(script=ModelScript(turns=turns)) as server:
        url = getattr(server, PROTOCOLS[protocol])
        project.config(
            f"providers: {{p: {{baseUrl: {url}, apiKeyEnv: MODEL_KEY, protocol: {protocol}"
            f"{more.get('provider', '')}}}}}\nmodels: {{m: {{provider: p, name: m}}}}\n"
            "defaultModel: m\ndefaultAgent: builtin\n"
        )
        ran = project.uwf("run", "one", "-p", "go", *more.get("options", ()))
        requests = len(server.requests)
    if "text" in more.get("options", ()):
        return {"text": ran.stdout}, ran.exit_code, requests
    found = json.loads(ran.stdout)
    written = {"written": (project.folder / "a.txt").exists()}
    step = found["steps"][-1]["step"] if found["steps"] else None
    kept = project.uwf("step", "show", step).document if step else {}
    inbox = project.uwf("inbox").document
    return {**found, **written, "kept": kept, "inbox": inbox}, ran.exit_code, requests


def raw(*lines: str, **more: Any) -> dict[str, Any]:
    body = "".join(f"{line}\n\n" for line in lines)
    return {"raw": {"body": body, "contentType": "text/event-stream", **more}}


def data(document: Any) -> str:
    return f"data: {document if isinstance(document, str) else json.dumps(document)}"


def piece(**delta: Any) -> str:
    return data({"choices": [{"index": 0, "delta": {"role": "assistant", **delta}}]})


WRITE = {"name": "write_file", "arguments": json.dumps({"path": "a.txt", "content": "x"})}
CALL = [{"index": 0, "id": "c1", "type": "function", "function": WRITE}]
FAILED = 'event: error\ndata: {"message": "upstream closed", "code": 502}'
BROKEN = {
    "coddy-project/coddy-agent #106": raw(piece(content=HALF), FAILED, "data: [DONE]"),
    "yoloyash/overtchat #40": raw(piece(tool_calls=CALL), FAILED, "data: [DONE]"),
    "unslothai/unsloth #9390": raw(
        piece(content=HALF), data({"error": {"message": "worker died"}}), "data: [DONE]"
    ),
    "vllm-project/vllm #52852": raw(piece(content=HALF), "data: [DONE]"),
    "a call before [DONE]": raw(piece(tool_calls=CALL), "data: [DONE]"),
}


@pytest.mark.parametrize("report", BROKEN)
def test_half_an_answer_is_requested_again_and_nothing_of_it_is_used(report, tmp_path):
    """Kind: half an answer becomes a result."""
    found, code, requests = played(tmp_path, "openai-chat", BROKEN[report], DELIVERY)
    assert (found["status"], code, requests) == ("completed", 0, 2)
    assert not found["written"]
    assert "has a sev" not in json.dumps(found)


def test_a_service_without_end_marks_is_served_by_a_setting(tmp_path):
    """Kind: half an answer becomes a result; a service that never sends `finish_reason`."""
    whole = raw(piece(content="---\n$status: done\ntext: all\n---\n"), "data: [DONE]")
    found, code, _ = played(tmp_path, "openai-chat", whole, provider=", endMark: done")
    assert (found["status"], code) == ("completed", 0)


LONG = "the request exceeds the available context size"
WORDS = {
    "ggml-org/llama.cpp #16109, in the stream": raw(
        piece(content="Let me "),
        f'error: {{"code": 400, "message": "{LONG}", "type": "invalid_request_error"}}',
    ),
    "ggml-org/llama.cpp #16109, with status 200": {
        "raw": {"body": json.dumps({"object": "error", "message": LONG, "code": 400})}
    },
}


@pytest.mark.parametrize("report", WORDS)
def test_the_words_of_a_service_are_shown_and_its_error_is_not_repeated(report, tmp_path):
    """Kind: an error with status 200 loses its words."""
    turn = {**WORDS[report], "repeat": 9}
    found, code, requests = played(tmp_path, "openai-chat", turn)
    assert (code, found["steps"][-1]["failure"]["kind"]) == (6, "context_too_long")
    assert LONG in found["suspendMessage"]
    assert requests < 5


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("$list files", id="pydantic/pydantic-ai #4585"),
        pytest.param("write_file<|channel|>json", id="vercel/ai #17769"),
        pytest.param("", id="anomalyco/opencode #48750"),
        pytest.param("x" * 200, id="NousResearch/hermes-agent #90008"),
    ],
)
def test_a_name_that_a_model_invents_does_not_end_the_thread(protocol, name, tmp_path):
    """Kind: the history holds what strict services reject."""
    odd = {"toolCalls": [{"name": name, "arguments": {"path": "a.txt"}, "id": "call/1 " + name}]}
    found, code, requests = played(tmp_path, protocol, odd, DELIVERY)
    assert (found["status"], code, requests) == ("completed", 0, 2)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "half",
    [
        pytest.param({"text": "half \ud99c word"}, id="anthropics/claude-code #68325"),
        pytest.param({"reasoning": "half \ud99c"}, id="anthropics/claude-code #86560"),
        pytest.param({"path": "\udc00"}, id="anthropics/claude-code #61301"),
        pytest.param('{"path": "\\ud99c"}', id="anomalyco/opencode #17758"),
    ],
)
def test_half_a_character_does_not_end_the_thread(protocol, half, tmp_path):
    """Kind: the history holds what strict services reject."""
    is_said = isinstance(half, dict) and "path" not in half
    call = {"name": "list_files", "arguments": {} if is_said else half}
    turn = {"toolCalls": [call], **(half if is_said else {})}
    found, code, _ = played(tmp_path, protocol, turn, DELIVERY)
    assert (found["status"], code) == ("completed", 0)


@pytest.mark.parametrize(
    "label",
    [
        pytest.param("application/json", id="openclaw/openclaw #97454"),
        pytest.param("text/html", id="Wei-Shaw/sub2api #2826"),
        pytest.param("", id="tinyhumansai/tinyagents #56"),
    ],
)
def test_a_paid_answer_is_not_requested_again_because_of_its_label(label, tmp_path):
    """Kind: the label decides what a body is."""
    end = data({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    text = "---\n$status: done\ntext: all\n---\n"
    answer = raw(piece(content=text), end, "data: [DONE]", contentType=label)
    found, code, requests = played(tmp_path, "openai-chat", answer)
    assert (found["status"], code, requests) == ("completed", 0, 1)


@pytest.mark.parametrize("unit", [1, 1000])
def test_a_unix_time_is_waited_for(unit, tmp_path):
    """openclaw/clawhub #407. Kind: the time of a service in another unit."""

    def limited(_request):
        from uwf_testing.model_server_script import ModelError, ModelTurn

        soon = int((time.time() + 2) * unit)
        return ModelTurn(error=ModelError(status=429, message="slow", retry_after=str(soon)))

    options = ("--wait-limits", "1h")
    found, code, _ = played(tmp_path, "openai-chat", limited, DELIVERY, options=options)
    assert (found["status"], code) == ("completed", 0)


@pytest.mark.parametrize(
    "named",
    [
        pytest.param("Fri, 31 Dec 9999 23:59:59 GMT", id="mvanhorn/cli-printing-press #542"),
        pytest.param("9999999999999", id="urllib3/urllib3 #3743"),
        "9" * 400,
        "253402300799",
    ],
)
def test_a_time_that_cannot_be_right_is_unknown_and_the_words_are_kept(named, tmp_path):
    """Kind: a time of a service is beyond all bounds."""
    turn = {"error": {"status": 429, "message": "slow down please", "retryAfter": named}}
    found, code, _ = played(tmp_path, "openai-chat", {**turn, "repeat": 9})
    assert (code, found["steps"][-1]["failure"]["kind"]) == (6, "rate_limited")
    assert "slow down please" in found["suspendMessage"]
    assert "cannot be right" in found["suspendMessage"]
    assert found["steps"][-1]["failure"]["until"] is None
    assert [item["until"] for item in found["inbox"]["items"]] == [None]


def test_a_rejected_conversation_is_not_offered_again(tmp_path):
    """anomalyco/opencode #48750. Kind: the next command repeats the rejected request."""
    look = {"toolCalls": [{"name": "list_files", "arguments": {}}]}
    error = {"error": {"status": 400, "message": "messages.3 is odd"}}
    project = Project(tmp_path)
    del project.env["UWF_DEFAULT_AGENT"]
    project.workflow("one", ONE)
    with ScriptedModel([look, error, DELIVERY]) as server:
        project.config(
            f"providers: {{p: {{baseUrl: {server.openai_url}}}}}\n"
            "models: {m: {provider: p, name: m}}\ndefaultModel: m\ndefaultAgent: builtin\n"
        )
        ran = project.uwf("run", "one", "-p", "go")
        assert ran.exit_code == 6
        thread = json.loads(ran.stdout)["thread"]
        assert project.uwf("thread", "exec", thread).exit_code == 0
        roles = [message["role"] for message in server.requests[-1].messages]
    assert roles == ["system", "user"], "a fresh session"


@pytest.mark.parametrize(
    "turn",
    [
        {"raw": {"body": "<h1>Login", "contentType": "text/html"}},
        {"raw": {"body": '{"hello": 1}'}},
        {"error": {"status": 503, "message": "install nothing"}},
    ],
)
def test_nothing_is_to_be_installed_where_nothing_is_missing(turn, tmp_path):
    """Found while using uwf. Kind: a hint that cannot help."""
    options = ("--format", "text")
    found, code, _ = played(tmp_path, "openai-chat", {**turn, "repeat": 9}, options=options)
    assert code == 6
    assert "unavailable" in found["text"]
    assert "install what is missing" not in found["text"]
