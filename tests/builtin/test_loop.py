"""The loop: until there is a deliverable, within its limits, whatever the model does."""

import json
import threading
import time
from dataclasses import replace
from itertools import pairwise

import pytest
from builtin_kit import DONE, SCHEMA, model_at, turn, use

from uwf_agent_builtin.schemas import flat_text
from uwf_core.api import (
    AgentInterrupted,
    ContextTooLong,
    EmptyReply,
    LoadedTool,
    MaxBudget,
    MaxTurns,
    RunLimits,
    TimedOut,
    ToolSpec,
    Truncated,
    Unavailable,
)


def told(server, index=-1):
    """The messages of a request, as (role, content)."""
    return [(each["role"], each["content"]) for each in server.requests[index].messages]


def test_a_reply_with_frontmatter_ends_the_work(desk):
    reply = desk.run(DONE)
    assert reply.text == DONE and reply.structured is None
    assert (reply.continuation, reply.proof, reply.model) == ("new", None, "scripted")
    assert reply.usage.turns == 1 and reply.usage.input_tokens > 0


def test_a_valid_resolve_ends_the_work(desk):
    reply = desk.run(turn(use("resolve", **{"$status": "failed", "why": "no"})))
    assert reply.structured == {"$status": "failed", "why": "no"} and reply.text is None


def test_an_invalid_resolve_is_answered_with_its_faults(desk):
    server = desk.model(
        turn(use("resolve", **{"$status": "failed", "why": 3})),
        turn(use("resolve", **{"$status": "perhaps"})),
        turn(use("resolve", **{"$status": "failed", "why": "no"})),
    )
    reply = desk.agent().run(desk.request(server), desk.sink)
    assert reply.structured == {"$status": "failed", "why": "no"}
    first, second = (told(server, index)[-1][1] for index in (1, 2))
    assert "why: 3 is not of type" in first
    assert "one of done, failed, $SUSPEND" in second


def test_the_parameters_of_resolve_are_the_schema_of_the_role(desk):
    server = desk.model(DONE)
    desk.agent().run(desk.request(server), desk.sink)
    tools = {
        each["function"]["name"]: each["function"] for each in server.requests[0].body["tools"]
    }
    parameters = tools["resolve"]["parameters"]
    assert parameters["type"] == "object"
    assert parameters["properties"]["$status"] == {
        "type": "string",
        "enum": ["done", "failed", "$SUSPEND"],
        "description": "Its fields: done: note (optional); failed: why; $SUSPEND: reason",
    }
    assert parameters["properties"]["why"] == {"type": "string"}
    assert not {"oneOf", "anyOf", "allOf", "not", "enum"} & set(parameters)


def test_all_tools_and_the_rules_of_a_role_take_few_characters_of_each_request(desk):
    """The benchmark beside mini-swe-agent measures whole runs; this keeps what they depend on."""
    schema = {"properties": {"$status": {"const": "done"}}, "required": ["$status"]}
    server = desk.model(DONE)
    desk.agent(allow_shell="workspace").run(desk.request(server, schema=schema), desk.sink)
    (request,) = server.requests
    assert len(request.tool_names) == 8
    assert len(json.dumps(request.body["tools"], separators=(",", ":"))) <= 2_300
    assert len(request.messages[0]["content"]) <= 400


def test_a_role_may_suspend_by_resolve(desk):
    reply = desk.run(turn(use("resolve", **{"$status": "$SUSPEND", "reason": "which one?"})))
    assert reply.structured == {"$status": "$SUSPEND", "reason": "which one?"}


def test_a_reply_without_frontmatter_is_nudged_and_then_left_to_the_engine(desk):
    server = desk.model("I am done.", "Really.", "Yes.", "never asked for")
    reply = desk.agent().run(desk.request(server), desk.sink)
    assert reply.text == "Yes."
    assert server.turns_left == 1
    assert sum("not a deliverable" in note for note in desk.sink.notes()) == 2


def test_nothing_runs_after_a_delivery_in_the_same_turn(desk):
    desk.run(
        turn(
            use("write_file", path="a", content="1"),
            use("resolve", **{"$status": "done"}),
            use("write_file", path="b", content="2"),
        )
    )
    assert (desk.work / "a").exists() and not (desk.work / "b").exists()


def test_several_calls_are_done_and_answered_in_their_order(desk):
    server = desk.model(
        turn(*(use("write_file", path="n", content=str(number)) for number in range(50))), DONE
    )
    desk.agent().run(desk.request(server), desk.sink)
    answers = [text for role, text in told(server) if role == "tool"]
    assert len(answers) == 50 and "a new file" in answers[0]
    assert (desk.work / "n").read_text() == "49"
    assert [call.id for call in desk.sink.calls()] == [f"call_0_{n}" for n in range(50)]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (use("no_such_tool"), "there is no tool"),
        (use(""), "there is no tool"),
        (use("read_file"), '"path" is a required property'),
        (use("read_file", path=3), "3 is not of type"),
        (use("read_file", path="a", lines="x"), "not of type"),
        (use("read_file", path="a", mode="r"), "mode"),
        ({"name": "read_file", "arguments": '{"path": "a'}, "are not JSON"),
        ({"name": "read_file", "arguments": "[1]"}, "not an object"),
        ({"name": "read_file", "arguments": "NaN"}, "not JSON"),
        ({"name": "resolve", "arguments": '{"$status": '}, "are not JSON"),
        (use("grep", pattern="("), "not a regular expression"),
        (use("list_files", pattern="../*"), "cannot leave"),
        (use("edit_file", path="missing", old="a", new="b"), "does not exist"),
        (use("read_file", path="missing"), "no such file"),
        (use("list_files", path="missing"), "no such file"),
    ],
    ids=lambda value: value if isinstance(value, str) else value["name"],
)
def test_an_error_of_a_tool_is_an_answer(desk, call, words):
    server = desk.model(turn(call), DONE)
    assert desk.agent().run(desk.request(server), desk.sink).text == DONE
    assert words in told(server)[-1][1]
    assert desk.sink.calls()[0].is_error
    # What is told again is JSON, which some servers insist on.
    sent = server.requests[-1].messages[-2]["tool_calls"][0]["function"]["arguments"]
    assert isinstance(json.loads(sent), dict)


def test_endless_tool_calls_end_with_max_turns_and_one_warning(desk):
    server = desk.model(*[turn(use("list_files"))] * 40)
    with pytest.raises(MaxTurns) as failure:
        desk.agent(max_turns=8).run(desk.request(server), desk.sink)
    assert failure.value.session == desk.sink.sessions[0]
    assert len(server.requests) == 8
    warnings = [note for note in desk.sink.notes() if "are left" in note]
    assert warnings == ["[note: 3 turns are left. Finish what matters most and deliver.]"]


def test_max_turns_is_thirty_by_default(desk):
    server = desk.model(*[turn(use("list_files"))] * 40)
    with pytest.raises(MaxTurns):
        desk.agent().run(desk.request(server), desk.sink)
    assert len(server.requests) == 30


def test_a_budget_of_tokens_ends_the_call(desk):
    usage = {"inputTokens": 400, "outputTokens": 100}
    server = desk.model(*[turn(use("list_files"), usage=usage)] * 10)
    with pytest.raises(MaxBudget):
        desk.agent(max_tokens=2000).run(desk.request(server), desk.sink)
    assert len(server.requests) == 4
    assert desk.sink.usages[-1].input_tokens == 1600


def test_time_ends_the_call_also_while_the_model_thinks(desk):
    server = desk.model(turn(use("list_files")), {"text": DONE, "hang": "start"})
    started = time.monotonic()
    limits = RunLimits(seconds=3.0, grace_seconds=1.0)
    with pytest.raises(TimedOut) as failure:
        desk.agent().run(desk.request(server, limits=limits), desk.sink)
    assert time.monotonic() - started < 250
    assert failure.value.session


def test_cancel_ends_the_call_while_the_model_thinks(desk):
    server = desk.model({"text": DONE, "hang": "middle"})
    request = desk.request(server)
    threading.Timer(0.3, request.cancel.set, ("enough",)).start()
    started = time.monotonic()
    with pytest.raises(AgentInterrupted):
        desk.agent().run(request, desk.sink)
    assert time.monotonic() - started < 25


def test_cancel_ends_the_call_while_a_command_runs(desk):
    server = desk.model(turn(use("run_command", command="sleep 60"), use("list_files")), DONE)
    request = desk.request(server)
    threading.Timer(0.5, request.cancel.set, ("enough",)).start()
    started = time.monotonic()
    with pytest.raises(AgentInterrupted):
        desk.agent(allow_shell="workspace").run(request, desk.sink)
    assert time.monotonic() - started < 25


def test_the_usage_of_all_replies_is_summed_and_the_cached_part_kept_apart(desk):
    usage = {"inputTokens": 10, "outputTokens": 5, "cacheReadTokens": 80}
    reply = desk.run(turn(use("list_files"), usage=usage), {"text": DONE, "usage": usage})
    assert reply.usage.turns == 2
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (20, 10)
    assert reply.usage.cache_read_tokens == 160
    assert reply.usage.duration_ms is not None


def test_usage_that_the_service_does_not_tell_is_unknown(desk):
    reply = desk.run({"text": DONE, "noUsage": True})
    assert reply.usage.input_tokens is None and reply.usage.turns == 1


def test_text_is_told_as_it_comes(desk):
    text = DONE + " word" * 200
    desk.run({"text": text, "pieceBytes": 200, "pieceDelayMs": 8})
    growing = [state.text for state in desk.sink.turns if state.role == "assistant"]
    assert len(growing) > 2
    assert all(text.startswith(piece) for piece in growing)
    assert growing[-1] == text


def test_reasoning_is_kept_apart(desk):
    desk.run({"text": DONE, "reasoning": "Hm."})
    assert desk.sink.last_turns()[-1].reasoning == "Hm."


def test_without_streaming_it_works_the_same(desk):
    server = desk.model(turn(use("list_files")), DONE)
    assert desk.agent(stream=False).run(desk.request(server), desk.sink).text == DONE
    assert not any(request.streams for request in server.requests)


def test_old_output_is_left_out_first_and_that_is_said(desk):
    for name in "abcdefgh":
        (desk.work / name).write_text(f"{name} {name} {name} {name}\n" * 1000)
    server = desk.model(*[turn(use("read_file", path=name)) for name in "abcdefgh"], DONE)
    desk.agent(context_tokens=12_000).run(desk.request(server, prompt="THE TASK"), desk.sink)
    messages = told(server)
    assert messages[1] == ("user", "THE TASK")
    answers = [text for role, text in messages if role == "tool"]
    assert "left out" in answers[0] and answers[-1].startswith("h h")
    assert answers[-2].startswith("g g")
    assert any("left out from here on" in note for note in desk.sink.notes())
    assert all(len(request.raw) < 60_000 for request in server.requests)


def test_a_context_that_the_service_finds_too_long_is_shortened_once(desk):
    for name in "abc":
        (desk.work / name).write_text(f"{name} {name}\n" * 2000)
    error = {"error": {"status": 400, "message": "maximum context length exceeded"}}
    calls = [turn(use("read_file", path=name)) for name in "abc"]
    reply = desk.run(*calls, turn(use("list_files")), error, DONE)
    assert reply.text == DONE


def test_a_context_that_stays_too_long_is_the_failure(desk):
    error = {"error": {"status": 400, "message": "maximum context length exceeded"}}
    with pytest.raises(ContextTooLong):
        desk.run(error, error)


def test_a_reply_cut_at_its_length_is_asked_for_again(desk):
    cut = {"text": "---\n$status: do", "stopReason": "length"}
    assert desk.run(cut, DONE).text == DONE
    with pytest.raises(Truncated):
        desk.run(cut, cut, cut, cut)


def test_a_call_that_may_be_cut_at_the_length_of_the_reply_is_not_executed(desk):
    cut = turn(use("list_files"), use("write_file", path="a", content="x"), stopReason="length")
    assert desk.run(cut, DONE).text == DONE
    assert not (desk.work / "a").exists()
    results = [call.result for call in desk.sink.calls() if call.result]
    assert "may be incomplete" in results[-1]
    assert "may be incomplete" not in results[0]


def test_an_empty_reply_is_nudged_then_the_failure(desk):
    assert desk.run({"text": ""}, DONE).text == DONE
    with pytest.raises(EmptyReply):
        desk.run(*[{"text": ""}] * 5)


def test_without_a_model_it_says_what_to_do(desk):
    with pytest.raises(Unavailable, match="needs a model") as failure:
        desk.agent().run(desk.request(None), desk.sink)
    assert "uwf setup" in failure.value.hint


def test_a_server_that_is_not_there(desk):
    model = model_at("http://127.0.0.1:9/v1")
    with pytest.raises(Unavailable, match="connection refused"):
        desk.agent().run(desk.request(None, model=model), desk.sink)


def test_a_narrowed_role_cannot_write_whatever_the_model_says(desk):
    (desk.work / "a.txt").write_text("old")
    server = desk.model(
        turn(
            use("write_file", path="a.txt", content="new"),
            use("edit_file", path="a.txt", old="old", new="new"),
            use("run_command", command="echo new > a.txt"),
            use("Write_File", path="a.txt", content="new"),
            use("read_file", path="a.txt"),
        ),
        DONE,
    )
    agent = desk.agent(allow_shell="workspace")
    reply = agent.run(desk.request(server, tools=("read_file", "grep")), desk.sink)
    assert (desk.work / "a.txt").read_text() == "old"
    assert server.requests[0].tool_names == ["grep", "read_file", "resolve"]
    assert [call.is_error for call in desk.sink.calls()] == [True] * 4 + [False]
    assert len(reply.denials) == 3


def test_a_role_without_tools_needs_one_request_and_no_tool_calling(desk):
    server = desk.model(turn(text="---\n$status: done\n---\nAll is well."))
    reply = desk.agent().run(desk.request(server, tools=()), desk.sink)
    assert reply.text == "---\n$status: done\n---\nAll is well."
    assert [request.tool_names for request in server.requests] == [[]]
    assert "resolve" not in server.requests[0].raw.decode()


def test_a_role_without_tools_is_reminded_of_the_form(desk):
    server = desk.model(turn(text="All is well."), turn(text='{"$status": "done"}'))
    reply = desk.agent().run(desk.request(server, tools=()), desk.sink)
    assert reply.structured == {"$status": "done"}
    assert "one JSON object of the schema" in server.requests[1].raw.decode()
    assert "resolve" not in server.requests[1].raw.decode()


@pytest.mark.parametrize("protocol", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_a_role_without_tools_gets_the_schema_in_the_form_of_the_service_and_in_words(
    desk, protocol
):
    """Without either it could not know the fields: the prompt refers to the schema."""
    said = '{"$status": "failed", "why": "no", "_body": "It is dark."}'
    server = desk.model(turn(text=said))
    reply = desk.agent().run(_by(desk.request(server, tools=()), server, protocol), desk.sink)
    assert reply.structured == {"$status": "failed", "why": "no", "_body": "It is dark."}
    body = server.requests[0].body
    sent = {
        "openai-chat": lambda: body["response_format"]["json_schema"]["schema"],
        "openai-responses": lambda: body["text"]["format"]["schema"],
        "anthropic": lambda: body["output_config"]["format"]["schema"],
        "gemini": lambda: body["generationConfig"]["responseJsonSchema"],
    }[protocol]()
    assert sent == flat_text(SCHEMA)
    assert json.dumps(flat_text(SCHEMA))[1:-1] in json.dumps(body).replace('\\"', '"')
    assert "tools" not in body


def _by(request, server, protocol):
    url = {"anthropic": server.anthropic_url, "gemini": server.gemini_url}
    model = replace(request.model, base_url=url.get(protocol, server.openai_url), protocol=protocol)
    return request.with_(model=model)


HOSTILE = {
    "a status that is a list": ('{"$status": ["done"]}', "$status: is ['done']"),
    "a status that is an object": ('{"$status": {}}', "$status: is {}"),
    "no status": ("{}", "$status: is None"),
    "nesting": (f'{{"$status": "done", "note": {"[" * 500}{"]" * 500}}}', "nested deeper than 50"),
}


@pytest.mark.parametrize("tools", [None, ()])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_object_is_an_error_for_the_model_and_ends_nothing(desk, name, tools):
    text, words = HOSTILE[name]
    wrong = text if tools == () else turn({"name": "resolve", "arguments": text})
    right = '{"$status": "done"}' if tools == () else turn(use("resolve", **{"$status": "done"}))
    server = desk.model(wrong, right)
    reply = desk.agent().run(desk.request(server, tools=tools), desk.sink)
    assert reply.structured == {"$status": "done"}
    assert words in server.requests[1].messages[-1]["content"]


def test_an_object_that_stays_nested_too_deeply_is_never_delivered(desk):
    call = turn({"name": "resolve", "arguments": HOSTILE["nesting"][0]})
    with pytest.raises(MaxTurns):
        desk.run(*[call] * 8, options={"max_turns": 8})


def test_an_invalid_object_of_a_role_without_tools_is_corrected(desk):
    fenced = '```json\n{"$status": "failed", "why": "dark", "surplus": 1}\n```'
    server = desk.model('{"$status": "failed"}', fenced)
    reply = desk.agent().run(desk.request(server, tools=()), desk.sink)
    assert reply.structured["why"] == "dark"
    assert "why" in server.requests[1].messages[-1]["content"]


def test_a_service_without_schemas_still_serves_a_role_without_tools(desk):
    refused = {"error": {"status": 400, "message": "response_format is not supported"}}
    server = desk.model(refused, refused, '{"$status": "done"}')
    reply = desk.agent().run(desk.request(server, tools=()), desk.sink)
    assert reply.structured == {"$status": "done"}
    assert "JSON Schema" in server.requests[2].messages[0]["content"]


def test_a_question_without_tools_gets_no_schema(desk):
    server = desk.model("Because.")
    assert desk.agent().ask(desk.question(server, tools=()), desk.sink).text == "Because."
    assert "response_format" not in server.requests[0].body
    assert "JSON" not in server.requests[0].raw.decode()


def test_no_secret_reaches_the_model_or_the_transcript(desk):
    secret = "hunter2-the-secret-value"
    desk.env |= {"DB_PASSWORD": secret}
    (desk.work / "conf.txt").write_text(f"password = {secret}\nkey = sk-a-key-of-the-tests\n")
    server = desk.model(
        turn(use("read_file", path="conf.txt"), use("run_command", command="env; cat conf.txt")),
        DONE,
    )
    request = desk.request(server, prompt=f"The password is {secret}.")
    desk.agent(allow_shell="workspace").run(request, desk.sink)
    kept = "".join(file.read_text() for file in desk.state.rglob("*") if file.is_file())
    sent = "".join(request.raw.decode() for request in server.requests)
    for text in (kept, sent, repr(desk.sink.turns)):
        assert secret not in text and "sk-a-key-of-the-tests" not in text
    assert "[redacted]" in kept


def test_the_beginning_of_the_prompt_stays_the_same_bytes(desk):
    """So that the provider's cache knows it: each request goes on where the last one ended."""
    server = desk.model(*[turn(use("list_files"))] * 4, DONE)
    desk.agent().run(desk.request(server), desk.sink)
    bodies = [request.body for request in server.requests]
    for before, after in pairwise(bodies):
        assert after["messages"][: len(before["messages"])] == before["messages"]
        assert after["tools"] == before["tools"]


def test_a_tool_of_a_plugin_is_offered_and_called(desk):
    from uwf_agent_builtin.agent import BuiltinAgent
    from uwf_core.api import AgentContext

    def shout(arguments, context):
        return f"{arguments['text'].upper()} in {context.cwd}"

    spec = ToolSpec(
        name="shout",
        description="says it loudly",
        parameters={"type": "object", "properties": {"text": {"type": "string"}}},
        factory="nowhere:made",
    )
    tools = (LoadedTool(spec=spec, tool=shout),)
    context = AgentContext(name="b", state_dir=str(desk.state), tools=lambda: tools)
    server = desk.model(turn(use("shout", text="hello")), DONE)
    agent = BuiltinAgent(None, context)
    agent.run(desk.request(server), desk.sink)
    agent.close()
    assert told(server)[-1][1] == f"HELLO in {desk.work}"
    assert "tools of plugins and servers: NOT confined (shout)" in desk.sink.notes()[0]


def test_it_says_which_protection_is_active_and_which_is_not(desk):
    desk.run(DONE)
    told = desk.sink.notes()[0]
    assert f"files: confined to {desk.work}" in told and "commands: off" in told
    assert "NOT" not in told
    desk.sink.turns.clear()
    desk.run(DONE, options={"allow_shell": "workspace", "fetch": False, "deny": ("*.key",)})
    told = desk.sink.notes()[0]
    assert "commands: NOT confined" in told and "pages: off" in told and "denied: *.key" in told


def test_a_tool_that_a_role_may_use_and_nobody_has_is_named(desk):
    desk.run(DONE, tools=("read_file", "read_fil", "resolve"))
    assert "this role may use the tool 'read_fil', and there is none of that name" in (
        desk.sink.notes()
    )


def test_a_schema_without_a_choice_is_the_tool_as_it_is(desk):
    schema = {
        "type": "object",
        "properties": {"$status": {"type": "string", "const": "done"}, "n": {"type": "integer"}},
        "required": ["$status", "n"],
    }
    reply = desk.run(turn(use("resolve", **{"$status": "done", "n": 3})), schema=schema)
    assert reply.structured == {"$status": "done", "n": 3}
