"""The client: answers, errors, what the agent asks meanwhile, and what comes late or not at all."""

import pytest
from acp_wire import Wire

from uwf_agent_acp.agent.permissions import Policy
from uwf_agent_acp.protocol.client import AcpClient, TokenCounts
from uwf_agent_acp.protocol.errors import BadAnswer, ConnectionClosed, RpcError

HELLO = {"id": 1, "result": {"protocolVersion": 1, "agentInfo": {"name": "a", "version": "2"}}}


class Listener:
    def __init__(self, choose=lambda _request: "yes"):
        self.updates, self.requests, self.choose = [], [], choose

    def update(self, session, update):
        self.updates.append((session, update))

    def permission(self, request):
        self.requests.append(request)
        return self.choose(request)


def client_of(*answers, listener=None, services=None):
    wire = Wire(*answers)
    return AcpClient(wire, listener or Listener(), services), wire


def answered(result, id_=1):
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def test_initialize_tells_who_the_agent_is():
    client, wire = client_of(HELLO)
    assert client.initialize("uwf", "1") == ("a", "2", {})
    assert wire.sent[0]["params"]["protocolVersion"] == 1


def test_another_version_of_the_protocol_is_refused():
    client, _ = client_of(answered({"protocolVersion": 2}))
    with pytest.raises(BadAnswer, match="version 2"):
        client.initialize("uwf", "1")


def test_files_are_announced_only_where_they_are_served():
    client, wire = client_of(HELLO, services={"fs/read_text_file": lambda params: {}})
    client.initialize("uwf", "1")
    files = wire.sent[0]["params"]["clientCapabilities"]["fs"]
    assert files == {"readTextFile": True, "writeTextFile": False}


def test_the_agent_reads_files_through_a_service():
    ask = {"id": "r1", "method": "fs/read_text_file", "params": {"path": "/a"}}
    services = {"fs/read_text_file": lambda params: {"content": f"of {params['path']}"}}
    client, wire = client_of(ask, answered({"stopReason": "end_turn"}), services=services)
    client.prompt("s", "hello")
    assert wire.sent[1] == {"jsonrpc": "2.0", "id": "r1", "result": {"content": "of /a"}}


def test_what_nobody_serves_is_refused_and_the_prompt_goes_on():
    ask = {"id": 7, "method": "terminal/create", "params": {}}
    client, wire = client_of(ask, answered({"stopReason": "end_turn"}))
    assert client.prompt("s", "hello").stop_reason == "end_turn"
    assert wire.sent[1]["error"]["code"] == -32601


def test_a_service_that_fails_is_answered_before_its_fault_is_raised():
    def broken(params):
        raise ZeroDivisionError

    ask = {"id": 7, "method": "fs/read_text_file", "params": {}}
    client, wire = client_of(ask, services={"fs/read_text_file": broken})
    with pytest.raises(ZeroDivisionError):
        client.prompt("s", "hello")
    assert wire.sent[1]["error"]["code"] == -32603


def test_a_permission_is_asked_for_by_kind_and_answered_by_id():
    ask = {
        "id": 1,
        "method": "session/request_permission",
        "params": {
            "sessionId": "s",
            "toolCall": {"toolCallId": "1", "title": "rm"},
            "options": [{"optionId": "n", "kind": "reject_once"}, {"kind": "allow_once"}],
        },
    }
    listener = Listener(lambda request: request.option("allow_always", "reject_once"))
    client, wire = client_of(ask, answered({"stopReason": "end_turn"}), listener=listener)
    client.prompt("s", "hello")
    assert wire.sent[1]["result"] == {"outcome": {"outcome": "selected", "optionId": "n"}}
    assert listener.requests[0].tool.title == "rm"


ONCE, ALWAYS, NOT_ONCE, NEVER = (
    {"optionId": kind, "kind": kind}
    for kind in ("allow_once", "allow_always", "reject_once", "reject_always")
)


@pytest.mark.parametrize(
    ("permission", "offered", "chosen", "denied"),
    [
        ("allow", [NEVER, NOT_ONCE, ALWAYS, ONCE], "allow_once", False),
        ("allow", [NEVER, ALWAYS], "allow_always", False),
        ("allow", [NEVER, NOT_ONCE], "reject_once", True),
        ("allow", [{"kind": "allow_once"}, NEVER], "reject_always", True),
        ("allow", [{"kind": "allow_once", "optionId": 1}, ALWAYS], "allow_always", False),
        ("deny", [ONCE, NEVER, NOT_ONCE], "reject_once", True),
        ("deny", [ONCE, NEVER], "reject_always", True),
        ("deny", [ONCE, ALWAYS], None, True),
        ("allow", [{"kind": "other", "optionId": "x"}, None, "allow_once"], None, True),
    ],
)
def test_only_what_was_offered_is_chosen_and_the_least_of_it(permission, offered, chosen, denied):
    call = {"toolCallId": "1", "title": "rm"}
    params = {"sessionId": "s", "toolCall": call, "options": offered}
    ask = {"id": 1, "method": "session/request_permission", "params": params}
    policy = Policy("the agent", permission, {}, lambda *_: None)
    client, wire = client_of(
        ask, answered({"stopReason": "end_turn"}), listener=Listener(policy.decide)
    )
    client.prompt("s", "hello")
    outcome = wire.sent[1]["result"]["outcome"]
    assert outcome.get("optionId") == chosen
    assert outcome["outcome"] == ("cancelled" if chosen is None else "selected")
    assert policy.denials == (["rm"] if denied else [])


def test_a_permission_without_a_choice_is_cancelled():
    ask = {
        "id": 1,
        "method": "session/request_permission",
        "params": {"toolCall": {}, "options": []},
    }
    client, wire = client_of(
        ask, answered({"stopReason": "cancelled"}), listener=Listener(lambda _: None)
    )
    client.prompt("s", "hello")
    assert wire.sent[1]["result"] == {"outcome": {"outcome": "cancelled"}}


def test_noise_unknown_messages_and_late_answers_are_passed_over():
    client, _ = client_of(
        b"Loading\xff...",
        b"",
        answered({"stopReason": "refusal"}, id_=99),
        {
            "method": "session/update",
            "params": {"sessionId": "s", "update": {"sessionUpdate": "x"}},
        },
        {"method": "session/update", "params": None},
        {"method": "something/new", "params": [1]},
        answered({"stopReason": "end_turn", "usage": {"inputTokens": 3, "outputTokens": True}}),
    )
    end = client.prompt("s", "hello")
    assert end == ("end_turn", TokenCounts(input=3), {})


def test_an_error_is_raised_with_its_code():
    client, _ = client_of({"id": 1, "error": {"code": -32603, "message": "no", "data": {"a": 1}}})
    with pytest.raises(RpcError, match="no") as error:
        client.open_session("new", "/w")
    assert error.value.code == -32603


def test_an_error_of_no_known_form_is_an_error_all_the_same():
    client, _ = client_of({"id": 1, "error": "broken"})
    with pytest.raises(RpcError, match="broken"):
        client.open_session("new", "/w")


def test_an_end_before_the_answer_names_the_method_and_the_noise():
    client, _ = client_of(b"Segmentation fault")
    with pytest.raises(ConnectionClosed, match=r"session/new.*Segmentation") as error:
        client.open_session("new", "/w")
    assert error.value.noise == "Segmentation fault"


@pytest.mark.parametrize("result", [[], "text", 3, {}, {"sessionId": ""}, {"sessionId": 5}])
def test_a_session_without_an_id_is_a_bad_answer(result):
    client, _ = client_of(answered(result))
    with pytest.raises(BadAnswer):
        client.open_session("new", "/w")


def test_a_load_that_is_answered_with_nothing_has_no_modes():
    client, _ = client_of(answered(None))
    assert client.open_session("load", "/w", "s") == ("s", None, None, ())


def test_what_the_agent_says_never_breaks_a_line():
    client, wire = client_of(answered({"stopReason": "end_turn"}))
    client.prompt("s", "one\ntwo\u2028three\r\n\x85")
    assert wire.sent[0]["params"]["prompt"][0]["text"] == "one\ntwo\u2028three\r\n\x85"


def test_a_giant_line_is_a_message_like_any_other():
    chunk = {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": "x" * 10**6},
    }
    listener = Listener()
    client, _ = client_of(
        {"method": "session/update", "params": {"sessionId": "s", "update": chunk}},
        answered({"stopReason": "end_turn"}),
        listener=listener,
    )
    client.prompt("s", "hello")
    assert len(listener.updates[0][1].text) == 10**6
