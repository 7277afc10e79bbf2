"""The mock agent through the same doors as any other plugin."""

import json
import stat
import threading
from pathlib import Path

import pytest

from uwf_core.agents.choose import Choice
from uwf_core.agents.open import OpenAgent, open_agent
from uwf_core.agents.supervise import ask_call, fork_call, run_call, speaks_from
from uwf_core.api.agent import (
    AgentContext,
    AgentReply,
    AgentRequest,
    AskRequest,
    PromptParts,
    RunLimits,
    Usage,
)
from uwf_core.client import Cancel
from uwf_core.errors import (
    AgentInterrupted,
    BadRequest,
    ConfigError,
    NeedsAnswer,
    RateLimited,
    SessionLost,
    TimedOut,
)
from uwf_core.testing import mock
from uwf_core.testing.mock_script import read_script
from uwf_core.testing.project import Project
from uwf_testing.harness import RecordingSink

THREAD = "01JD0000000000000000000000"


class Stage:
    """A folder with a script and the mock agent over it; each `open` is a new process's view."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.script = folder / "script.yaml"
        self.told = RecordingSink()

    def write(self, text: str) -> None:
        self.script.write_text(text, encoding="utf-8")

    def open(self, **options: object) -> OpenAgent:
        choice = Choice(
            kind="plugin",
            word="mock",
            source="test",
            name="mock",
            plugin="mock",
            options=options or {"script": str(self.script)},
            where="agents -> mock",
        )
        context = AgentContext(name="mock", state_dir=str(self.folder / "state" / "mock"))
        return open_agent(choice, lambda name: mock.uwf_agents()[0], context)

    def request(self, role: str = "writer", step: int = 1, **more: object) -> AgentRequest:
        request = AgentRequest(
            thread=THREAD,
            role=role,
            step_number=step,
            cwd=str(self.folder),
            prompt="whole prompt",
            parts=PromptParts(instruction="do it"),
        )
        return request.with_(**more)

    def play(self, role: str = "writer", step: int = 1, **more: object) -> AgentReply:
        return run_call(self.open(), self.request(role, step, **more), self.told)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_the_step_played_is_the_one_after_as_many_as_the_thread_has(stage: Stage) -> None:
    stage.write(
        "steps:\n"
        "  - {role: writer, output: {$status: done, n: 1}}\n"
        "  - {role: critic, output: {$status: bad}}\n"
        "  - {role: writer, output: {$status: done, n: 2}}\n"
    )
    assert stage.play("writer", 3).text == '---\n"$status": "done"\n"n": 2\n---\n'
    assert stage.play("writer", 1).text == '---\n"$status": "done"\n"n": 1\n---\n'
    assert "bad" in (stage.play("critic", 2).text or "")


def test_another_role_than_the_scripts_is_refused_by_both_names(stage: Stage) -> None:
    stage.write("steps: [{role: writer, output: x}]")
    with pytest.raises(BadRequest, match=r"role 'writer'.*role 'critic'"):
        stage.play("critic")


def test_a_role_without_a_step_is_an_error_of_a_script_by_role(stage: Stage) -> None:
    stage.write("byRole: true\nsteps: [{role: writer, output: a}]")
    with pytest.raises(BadRequest, match="has no step of the role 'editor'"):
        stage.play("editor")


def test_beyond_the_end_is_an_error_and_repeat_begins_anew(stage: Stage) -> None:
    stage.write("steps: [{role: writer, output: one}, {role: writer, output: two}]")
    with pytest.raises(BadRequest, match="has 2 steps, and step 3"):
        stage.play(step=3)
    stage.write("repeat: true\nsteps: [{role: writer, output: one}, {role: writer, output: two}]")
    assert [stage.play(step=n).text for n in (3, 4, 5)] == ["one", "two", "one"]


def test_outputs_are_served_in_order_over_processes_and_the_last_repeats(stage: Stage) -> None:
    stage.write("steps: [{role: writer, outputs: [first, {$status: second}, third]}]")
    texts = [stage.play().text or "" for _ in range(4)]
    assert [text.split("\n")[0] for text in texts] == ["first", "---", "third", "third"]
    assert "second" in texts[1]
    assert stage.play(thread="01JD0000000000000000000001").text == "first"


def test_an_item_of_outputs_can_fail_or_bring_its_own_usage(stage: Stage) -> None:
    stage.write(
        "steps:\n"
        "  - role: writer\n"
        "    usage: {inputTokens: 5}\n"
        "    outputs:\n"
        "      - fail: {kind: rate_limited, message: slow down, untilMs: 17}\n"
        "      - {output: {$status: done}, usage: {costUsd: 0.5}, body: text}\n"
        "      - {$status: done, fail: not an action}\n"
    )
    with pytest.raises(RateLimited, match="slow down") as failure:
        stage.play()
    assert failure.value.until_ms == 17
    assert failure.value.session == stage.told.sessions[0]
    assert stage.told.usages == [Usage(input_tokens=5)]
    reply = stage.play()
    assert reply.usage == Usage(cost_usd=0.5)
    assert reply.text == '---\n"$status": "done"\n---\ntext\n'
    last = stage.play()
    assert last.usage == Usage(input_tokens=5)
    assert '"fail": "not an action"' in (last.text or "")


def test_a_session_is_continued_in_another_process_and_proven(stage: Stage) -> None:
    stage.write("steps: [{role: writer, output: one}, {role: writer, output: two}]")
    first = stage.play()
    assert first.continuation == "new"
    assert stage.told.sessions == [first.session]
    second = stage.play(step=2, session=first.session)
    assert (second.session, second.continuation) == (first.session, "continued")
    assert second.proof


@pytest.mark.parametrize("session", ["mock-000000000000", "../../etc/passwd", "no/such"])
def test_a_session_that_is_gone_is_lost(stage: Stage, session: str) -> None:
    stage.write("steps: [{role: writer, output: one}]")
    with pytest.raises(SessionLost):
        stage.play(session=session)


def test_a_fork_knows_what_was_said_and_leaves_the_original_alone(stage: Stage) -> None:
    stage.write("steps: [{role: writer, output: the answer is 42}]")
    original = stage.play().session or ""
    agent = stage.open()
    forked = fork_call(agent, original, stage.request(session=original))
    assert forked != original
    question = AskRequest(
        thread=THREAD, role="writer", step_number=1, cwd="/", session=forked, question="and?"
    )
    reply = ask_call(agent, question, RecordingSink())
    assert "the answer is 42" in (reply.text or "")
    assert speaks_from(reply, forked)
    sessions = stage.folder / "state" / "mock" / "sessions"
    assert len((sessions / f"{original}.jsonl").read_text().splitlines()) == 1
    assert len((sessions / f"{forked}.jsonl").read_text().splitlines()) == 2
    assert stat.S_IMODE(sessions.stat().st_mode) == 0o700


def test_without_its_session_an_answer_comes_from_the_record_alone(stage: Stage) -> None:
    question = AskRequest(
        thread=THREAD, role="writer", step_number=1, cwd="/", question="why?", record="# Step 1"
    )
    reply = ask_call(stage.open(script=None), question, RecordingSink())
    assert "# Step 1" in (reply.text or "")
    assert not speaks_from(reply, None)


def test_a_script_can_say_what_is_answered_to_a_question(stage: Stage) -> None:
    stage.write("steps: [{role: writer, output: x, answer: because}]")
    session = stage.play().session
    question = AskRequest(
        thread=THREAD, role="writer", step_number=1, cwd="/", session=session, question="why?"
    )
    assert ask_call(stage.open(), question, RecordingSink()).text == "because"


def test_suspending_and_structured_output_are_typed_objects(stage: Stage) -> None:
    stage.write(
        "steps:\n"
        "  - {role: writer, suspend: {reason: which one?, form: {type: object}}}\n"
        "  - {role: writer, structured: {$status: done, n: 1}}\n"
    )
    assert stage.play().structured == {
        "$status": "$SUSPEND",
        "reason": "which one?",
        "form": {"type": "object"},
    }
    reply = stage.play(step=2)
    assert (reply.text, reply.structured) == (None, {"$status": "done", "n": 1})


def test_a_question_to_a_person_is_asked_once_and_does_not_use_up_an_output(stage: Stage) -> None:
    stage.write(
        "steps:\n"
        "  - role: writer\n"
        "    outputs:\n"
        "      - {question: {message: may I?, form: {type: object}}, output: first}\n"
        "      - second\n"
    )
    for _ in range(2):
        with pytest.raises(NeedsAnswer, match=r"may I\?") as question:
            stage.play()
        assert question.value.form == {"type": "object"}
    assert stage.play(answer={"yes": True}).text == "first"
    assert stage.play().text == "second"


def test_turns_are_told_as_they_are_written(stage: Stage) -> None:
    stage.write(
        "steps:\n"
        "  - role: writer\n"
        "    output: done\n"
        "    turns: [Reading, {role: tool, text: x, toolCalls: [{id: a, name: edit}]}]\n"
    )
    stage.play()
    assert [(turn.index, turn.role, turn.text) for turn in stage.told.turns] == [
        (0, "assistant", "Reading"),
        (1, "tool", "x"),
    ]
    assert stage.told.turns[1].tool_calls[0].name == "edit"


def test_without_turns_the_output_is_the_one_turn_and_nothing_was_used(stage: Stage) -> None:
    stage.write("steps: [{role: writer, output: hello}]")
    reply = stage.play()
    assert [turn.text for turn in stage.told.turns] == ["hello"]
    assert reply.usage.turns == 1
    assert reply.usage.input_tokens == 0
    assert reply.usage.cost_usd == 0.0


def test_hanging_ends_when_it_is_cancelled(stage: Stage) -> None:
    stage.write("steps: [{role: writer, hang: true}]")
    cancel = Cancel()
    stage.told.session = lambda session: cancel.set("Ctrl-C")
    with pytest.raises(AgentInterrupted, match="Ctrl-C") as failure:
        stage.play(cancel=cancel)
    assert (failure.value.session or "").startswith("mock-")


def test_a_step_that_waits_for_a_file_plays_once_it_exists(stage: Stage) -> None:
    stage.write("steps: [{role: writer, output: hello, untilFile: go}]")
    with pytest.raises(TimedOut):
        stage.play(limits=RunLimits(seconds=0.2))
    (stage.folder / "go").touch()
    assert stage.play().text == "hello"


def test_hanging_ends_at_the_time_limit(stage: Stage) -> None:
    stage.write("steps: [{role: writer, hang: true}]")
    with pytest.raises(TimedOut):
        stage.play(limits=RunLimits(seconds=0.2))


def test_garbage_is_delivered_as_it_is(stage: Stage) -> None:
    stage.write("steps: [{role: writer, garbage: true}]")
    text = stage.play().text or ""
    assert "\x1b" in text
    assert not text.startswith("---")


def test_the_script_is_found_by_the_environment(stage: Stage) -> None:
    stage.write("steps: [{role: writer, output: hello}]")
    request = stage.request(env={"UWF_MOCK_SCRIPT": str(stage.script)})
    assert run_call(stage.open(script=None), request, stage.told).text == "hello"
    with pytest.raises(BadRequest, match="has no script"):
        run_call(stage.open(script=None), stage.request(), stage.told)


def test_a_json_script_plays_as_well(stage: Stage) -> None:
    stage.script = stage.folder / "script.json"
    stage.write(json.dumps({"steps": [{"role": "writer", "output": {"$status": "done"}}]}))
    assert "done" in (stage.play().text or "")


def test_a_project_replaces_its_script_while_runs_read_it(tmp_path: Path) -> None:
    project = Project(tmp_path)
    file, done = project.script([]), threading.Event()

    def rewrite() -> None:
        for _ in range(100):
            project.script([{"role": "writer", "output": "x"}])
        done.set()

    writing = threading.Thread(target=rewrite)
    writing.start()
    while not done.is_set():
        read_script(str(file))
    writing.join()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("steps: [{role: writer, outptu: x}]", r"steps\.0\.outptu is not a known key"),
        ("steps: [{role: writer}]", r"steps\.0 delivers 0 things"),
        ("steps: [{role: writer, output: a, hang: true}]", r"steps\.0 delivers 2 things"),
        ("steps: [{role: writer, outputs: []}]", r"steps\.0\.outputs is empty"),
        ("steps: [{role: writer, output: a, outputs: [b]}]", "both `outputs`"),
        ("steps: [{role: writer, fail: {kind: nonsense}}]", "'nonsense' is not a kind of failure"),
        ("steps: [{role: writer, output: a, usage: {inputTokens: x}}]", "usage.inputTokens is 'x'"),
        ("steps: [{role: writer, output: a, turns: [{rol: tool}]}]", r"turns\.0\.rol "),
        ("steps: [{output: a}]", r"steps\.0\.role is missing"),
        ("steps: {", "script.yaml"),
        ("[]", "is a list; wanted a mapping"),
    ],
)
def test_a_fault_in_the_script_is_named_with_its_place(stage: Stage, text: str, named: str) -> None:
    stage.write(text)
    with pytest.raises(BadRequest, match=named):
        stage.play()


def test_a_script_that_is_missing_or_binary_is_a_clear_error(stage: Stage) -> None:
    with pytest.raises(BadRequest, match="cannot be read"):
        stage.play()
    stage.script.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadRequest, match="cannot be read"):
        stage.play()


def test_a_wrong_option_is_an_error_of_the_configuration(stage: Stage) -> None:
    with pytest.raises(ConfigError) as failure:
        stage.open(scirpt="x.yaml")
    assert failure.value.where == "agents -> mock -> scirpt"
    assert failure.value.hint == "did you mean 'script'?"
