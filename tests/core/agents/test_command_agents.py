"""Commands as agents, with real programs: what they are given, what their answers mean."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from uwf_core.agents.command import PROMPT_BYTES
from uwf_core.agents.open import OpenAgent
from uwf_core.agents.supervise import ask_call, fork_call, run_call, speaks_from
from uwf_core.api import AgentRequest, AskRequest, Model, PromptParts, RunLimits, Usage
from uwf_core.client import Cancel
from uwf_core.errors import (
    AgentFailure,
    AgentInterrupted,
    AuthRefused,
    BadRequest,
    Crashed,
    EmptyReply,
    InternalFailure,
    NeedsAnswer,
    RateLimited,
    SessionLost,
    Stalled,
    TimedOut,
    TooLarge,
    Truncated,
    Unavailable,
)
from uwf_core.process.identity import ProcessId

Command = Callable[..., OpenAgent]
RequestFor = Callable[..., AgentRequest]
FAST = RunLimits(grace_seconds=0.2)


def run(agent: OpenAgent, request: AgentRequest, told: Any) -> dict[str, Any]:
    reply = run_call(agent, request, told)
    assert reply.structured is not None
    return dict(reply.structured)


def calls_left(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "state" / "calls").iterdir())


def test_the_arguments_are_those_of_the_protocol(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    given = run(command("echo"), request_for(), told)
    assert given["argv"] == [
        *("--thread", "01JD0000000000000000000000", "--role", "writer"),
        *("--prompt", "do it", "--mode", "run"),
    ]


def test_it_works_in_the_steps_folder_with_the_steps_environment(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    request = request_for()
    given = run(command("echo"), request, told)
    assert given["cwd"] == os.path.realpath(request.cwd)
    assert given["hello"] == "from the environment"


def test_the_request_file_has_everything_in_camel_case(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    request = request_for(
        schema={"type": "object"},
        tools=("edit",),
        answer={"yes": True},
        options={"maxTurns": 3},
        model=Model(
            alias="m",
            name="model-1",
            provider="p",
            base_url="https://example.com/v1",
            protocol="other",
            protocol_factory=dict,
        ),
        purpose="resume",
    )
    document = run(command("echo", "stream"), request, told)["request"]
    assert document == {
        "protocol": 1,
        "mode": "run",
        "thread": "01JD0000000000000000000000",
        "role": "writer",
        "stepNumber": 2,
        "cwd": request.cwd,
        "session": None,
        "model": {
            "alias": "m",
            "name": "model-1",
            "provider": "p",
            "baseUrl": "https://example.com/v1",
            "apiKey": None,
            "price": None,
            "extra": {},
            "protocol": "other",
            "endMark": "protocol",
        },
        "options": {"maxTurns": 3},
        "limits": {
            "seconds": 3600.0,
            "idleSeconds": 900.0,
            "graceSeconds": 5.0,
            "replyBytes": 16777216,
        },
        "trusted": False,
        "purpose": "resume",
        "prompt": "the whole prompt",
        "parts": {
            "instructions": "",
            "guidance": "",
            "task": "a task",
            "progress": "",
            "history": "",
            "instruction": "do it",
            "form": "",
        },
        "schema": {"type": "object"},
        "answer": {"yes": True},
        "tools": ["edit"],
        "forks": False,
    }


def test_nobody_else_can_read_the_request_and_it_is_gone_afterwards(
    command: Command, request_for: RequestFor, told: Any, tmp_path: Path
) -> None:
    given = run(command("echo"), request_for(), told)
    assert given["mode"] == "0o600"
    assert not Path(given["path"]).exists()
    assert calls_left(tmp_path) == []


@pytest.mark.parametrize("scenario", ["crash", "garbage", "killed", "removes"])
def test_the_request_is_removed_also_after_a_failure(
    command: Command, request_for: RequestFor, told: Any, tmp_path: Path, scenario: str
) -> None:
    if scenario == "removes":
        run_call(command(scenario), request_for(), told)
    else:
        with pytest.raises(Crashed):
            run_call(command(scenario), request_for(), told)
    assert calls_left(tmp_path) == []


def test_what_a_killed_process_left_is_removed_by_the_next_call(
    command: Command, request_for: RequestFor, told: Any, tmp_path: Path
) -> None:
    host = os.uname().nodename
    made, written, elsewhere, alive = (
        tmp_path / "state" / "calls" / f"{owner}@left"
        for owner in (f"4000000@1@{host}", f"4000000@2@{host}", "4000000@1@another machine",
                      f"{os.getpid()}@{ProcessId.own().start}@{host}")
    )  # fmt: skip
    for folder in (made, written, elsewhere, alive):
        folder.mkdir(parents=True)
    (written / "request.json").write_text("secret")
    run_call(command("text"), request_for(), told)
    assert calls_left(tmp_path) == sorted([alive, elsewhere])


def test_where_no_files_can_be_written_the_folder_is_named(
    command: Command, request_for: RequestFor, told: Any, tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("a file where a folder should be")
    with pytest.raises(InternalFailure, match="cannot write") as failure:
        run_call(command("text"), request_for(), told)
    assert str(tmp_path / "state") in (failure.value.hint or "")


@pytest.mark.parametrize("letter", ["x", "é", "€", "🙂"])
def test_a_long_prompt_is_cut_between_characters_with_a_pointer_to_the_file(
    command: Command, request_for: RequestFor, told: Any, letter: str
) -> None:
    text = "a" + letter * PROMPT_BYTES
    request = request_for(parts=PromptParts(instruction=text))
    given = run(command("echo"), request, told)
    prompt = given["argv"][5]
    assert PROMPT_BYTES - 4 < len(prompt.encode()) <= PROMPT_BYTES
    assert "UWF_REQUEST" in prompt
    assert text.startswith(prompt[: prompt.index("\n\n[truncated")])
    assert given["request"]["parts"]["instruction"] == text


def test_a_prompt_with_a_nul_or_a_lone_surrogate_still_arrives(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    request = request_for(parts=PromptParts(instruction="a\0b\ud800c"))
    given = run(command("echo"), request, told)
    assert given["argv"][5] == "a\ufffdb\ufffdc"


@pytest.mark.parametrize("prompt", ["this was wrong: x", "everything again, and: x was wrong"])
def test_a_correction_is_sent_as_a_whole(
    command: Command, request_for: RequestFor, told: Any, prompt: str
) -> None:
    given = run(command("echo"), request_for(purpose="correction", prompt=prompt), told)
    assert given["argv"][5] == prompt


def test_a_text_reply_is_taken_with_all_its_fields(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    reply = run_call(command("text"), request_for(), told)
    assert reply.text == "---\n$status: done\n---\n"
    assert (reply.session, reply.continuation, reply.proof) == ("s-1", "new", None)
    assert (reply.usage.input_tokens, reply.usage.cost_usd) == (3, 0.25)
    assert reply.usage.output_tokens is None
    assert reply.usage.duration_ms is not None
    assert (reply.model, reply.agent_version, reply.stop_reason) == ("m", "7", "end")
    assert reply.denials == ("no shell",)
    assert [(turn.index, turn.role, turn.text) for turn in told.turns] == [
        (0, "assistant", "one"),
        (1, "tool", "two"),
    ]


def test_only_what_is_declared_is_asked_for(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    request = request_for(session="s-7")
    undeclared = command("echo").agent.run(request, told).structured or {}
    assert "--session" not in undeclared["argv"]
    assert undeclared["request"]["session"] is None
    declared = command("echo", "continue").agent.run(request, told).structured or {}
    assert declared["argv"][-2:] == ["--session", "s-7"]


def test_answering_the_session_asked_for_is_the_proof_where_continue_is_declared(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    reply = run_call(command("session", "continue"), request_for(session="s-7"), told)
    assert (reply.session, reply.continuation) == ("s-7", "continued")
    assert reply.proof
    with pytest.raises(SessionLost):
        run_call(command("session"), request_for(session="s-7"), told)


@pytest.mark.parametrize("scenario", ["forgetful", "no_session"])
def test_another_session_than_the_one_asked_for_is_a_lost_one(
    command: Command, request_for: RequestFor, told: Any, scenario: str
) -> None:
    with pytest.raises(SessionLost, match="'s-7'"):
        run_call(command(scenario, "continue"), request_for(session="s-7"), told)


def test_a_fork_is_asked_for_by_its_mode(command: Command, request_for: RequestFor) -> None:
    assert fork_call(command("session", "fork"), "s-7", request_for()) == "s-7-fork"
    with pytest.raises(SessionLost, match="same id"):
        fork_call(command("same_fork", "fork"), "s-7", request_for())
    with pytest.raises(Crashed, match="no sessionId"):
        fork_call(command("no_session", "fork"), "s-7", request_for())


def asking(request: AgentRequest, session: str | None) -> AskRequest:
    return AskRequest(
        thread=request.thread,
        role=request.role,
        step_number=2,
        cwd=request.cwd,
        env=request.env,
        session=session,
        question="why?",
        record="# Step 2",
    )


def test_an_answer_is_original_only_if_it_comes_from_the_session_that_was_asked(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    ask = asking(request_for(), "s-7")
    assert speaks_from(ask_call(command("session", "ask", "continue"), ask, told), "s-7")
    assert not speaks_from(ask_call(command("session", "ask"), ask, told), "s-7")
    assert not speaks_from(ask_call(command("forgetful", "ask", "continue"), ask, told), "s-7")
    fresh = asking(request_for(), None)
    assert not speaks_from(ask_call(command("session", "ask", "continue"), fresh, told), None)


def test_a_question_carries_the_steps_record(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    given = run_call_structured(command("echo", "ask"), asking(request_for(), None), told)
    assert given["argv"][4:] == ["--prompt", "why?", "--mode", "ask"]
    assert given["request"]["question"] == "why?"
    assert given["request"]["record"] == "# Step 2"


def run_call_structured(agent: OpenAgent, ask: AskRequest, told: Any) -> dict[str, Any]:
    reply = ask_call(agent, ask, told)
    assert reply.structured is not None
    return dict(reply.structured)


def test_events_are_told_and_wrong_lines_are_noted_without_harm(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    reply = run_call(command("events", "stream"), request_for(), told)
    assert told.sessions == ["s-9"]
    assert reply.session == "s-9"
    assert told.usages == [Usage(output_tokens=2)]
    assert reply.usage.output_tokens == 2
    *turns, note = told.turns
    assert [(turn.index, turn.text) for turn in turns] == [
        (0, "first"),
        (4, "fifth"),
        (5, "without a line end"),
    ]
    assert note.role == "note"
    assert "5 lines of UWF_EVENTS" in note.text
    assert "line 3 is not UTF-8" in note.text


def test_an_event_is_told_while_the_command_still_works(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    request = request_for(limits=RunLimits(seconds=60))
    told.on_turn = lambda turn: Path(request.cwd, "seen").touch()
    assert run_call(command("live", "stream"), request, told).text == "done"


def test_events_are_signs_of_life(command: Command, request_for: RequestFor, told: Any) -> None:
    limits = RunLimits(idle_seconds=5, grace_seconds=0.2)
    reply = run_call(command("lively", "stream"), request_for(limits=limits), told)
    assert reply.text == "done"


def test_a_streaming_command_that_falls_silent_is_stalled_and_keeps_its_session(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    limits = RunLimits(idle_seconds=5, grace_seconds=0.2)
    with pytest.raises(Stalled) as failure:
        run_call(command("silent", "stream"), request_for(limits=limits), told)
    assert failure.value.session == "s-2"


def test_one_that_does_not_stream_may_be_silent_until_the_time_limit(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    limits = RunLimits(seconds=5, idle_seconds=0.1, grace_seconds=0.2)
    with pytest.raises(TimedOut) as failure:
        run_call(command("silent"), request_for(limits=limits), told)
    assert failure.value.session == "s-2"


def test_one_that_ignores_sigterm_is_ended_all_the_same(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    cancel = Cancel()
    told.on_session = lambda _: cancel.set("Ctrl-C")
    pids: list[int] = []
    request = request_for(
        cancel=cancel, limits=FAST, on_process=lambda identity: pids.append(identity.pid)
    )
    with pytest.raises(AgentInterrupted):
        run_call(command("deaf", "stream"), request, told)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_a_cancelled_command_is_interrupted_with_what_it_said(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    cancel = Cancel()
    told.on_session = lambda _: cancel.set("Ctrl-C")
    with pytest.raises(AgentInterrupted, match="Ctrl-C") as failure:
        run_call(command("silent", "stream"), request_for(cancel=cancel, limits=FAST), told)
    assert failure.value.session == "s-2"


def test_a_daemon_that_holds_stdout_open_neither_hangs_the_step_nor_survives_it(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    request = request_for(limits=FAST)
    assert run_call(command("daemon"), request, told).text == "done"
    grandchild = int(Path(request.cwd, "grandchild").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(grandchild, 0)


def test_a_crash_tells_the_end_of_stderr_with_nothing_unprintable(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    with pytest.raises(Crashed, match="exit code 3") as failure:
        run_call(command("crash"), request_for(), told)
    assert "bad" in failure.value.message
    assert "happened" in failure.value.message
    assert not re.search(r"[\x00-\x08\x1b]", failure.value.message)
    assert failure.value.session == "s-4"


@pytest.mark.parametrize(
    ("scenario", "kind", "words"),
    [
        ("killed", Crashed, "SIGKILL"),
        ("nothing", EmptyReply, "printed nothing"),
        ("blank", EmptyReply, "returned nothing"),
        ("garbage", Crashed, r"is not JSON.*Traceback \\x1b"),
        ("binary", Crashed, "is not UTF-8"),
        ("cut", Truncated, "is not JSON"),
        ("a_list", Crashed, "is a list, not a JSON object"),
        ("deep", Crashed, "cannot be read"),
    ],
)
def test_no_result_is_a_failure_of_its_kind(
    command: Command,
    request_for: RequestFor,
    told: Any,
    scenario: str,
    kind: type[AgentFailure],
    words: str,
) -> None:
    with pytest.raises(kind, match=words) as failure:
        run_call(command(scenario), request_for(), told)
    assert type(failure.value) is kind


def test_a_hundred_megabytes_of_output_are_too_large(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    limits = RunLimits(reply_bytes=1 << 20, grace_seconds=0.2)
    with pytest.raises(TooLarge):
        run_call(command("much"), request_for(limits=limits), told)


def test_turns_without_end_are_too_large(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    limits = RunLimits(reply_bytes=1 << 20, grace_seconds=0.2)
    with pytest.raises(TooLarge):
        run_call(command("much_in_events", "stream"), request_for(limits=limits), told)


def test_a_number_that_is_none_is_left_to_the_extractor(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    assert run(command("not_a_number"), request_for(), told)["$status"] == "done"


def says(request_for: RequestFor, **reply: Any) -> AgentRequest:
    return request_for(parts=PromptParts(instruction=json.dumps(reply)))


def test_a_failure_can_be_reported_with_any_exit_code(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    error = {"kind": "auth", "message": "in its own words"}
    request = says(request_for, error=error, sessionId="s-6")
    for scenario in ("fail", "wrong"):
        with pytest.raises(AuthRefused, match="in its own words") as failure:
            run_call(command(scenario), request, told)
        assert failure.value.session == "s-6"


def test_a_rate_limit_says_until_when(command: Command, request_for: RequestFor, told: Any) -> None:
    error = {"kind": "rate_limited", "until": 1_700_000_000_000}
    with pytest.raises(RateLimited) as failure:
        run_call(command("wrong"), says(request_for, error=error), told)
    assert failure.value.until_ms == 1_700_000_000_000


def test_a_command_can_ask_a_person(command: Command, request_for: RequestFor, told: Any) -> None:
    form = {"type": "object", "properties": {"yes": {"type": "boolean"}}}
    error = {"kind": "needs_answer", "message": "may I?", "form": form}
    with pytest.raises(NeedsAnswer, match=r"may I\?") as question:
        run_call(command("wrong"), says(request_for, error=error, sessionId="s-8"), told)
    assert question.value.form == form


def test_a_session_that_nobody_asked_for_is_not_taken_over(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    request = says(request_for, output="x", sessionId="s", continuation="continued")
    with pytest.raises(InternalFailure, match="instead of a new one"):
        run_call(command("wrong"), request, told)


def test_a_program_that_is_not_there_is_unavailable(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    agent = command("text")
    agent.agent._argv = ("/no/such/program",)  # type: ignore[attr-defined]
    with pytest.raises(Unavailable, match="/no/such/program"):
        run_call(agent, request_for(), told)


def test_a_session_that_no_argument_can_hold_is_a_clear_error(
    command: Command, request_for: RequestFor, told: Any
) -> None:
    with pytest.raises(BadRequest):
        run_call(command("session", "continue"), request_for(session="a\0b"), told)
