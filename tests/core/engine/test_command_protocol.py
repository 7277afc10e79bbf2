"""A command in a thread: what it is called with, step after step."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.core.engine.conftest import LOOP
from tests.step_parts import session_of

from uwf_core.client import Client
from uwf_core.errors import UsageError
from uwf_core.testing.project import Project

AGENT = """
import json, os, sys
folder = os.path.dirname(os.path.abspath(__file__))
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
request = json.load(open(os.environ["UWF_REQUEST"]))
log = os.path.join(folder, "calls")
number = len(open(log).readlines()) if os.path.exists(log) else 0
with open(log, "a") as file:
    told = {"words": words, "request": request, "cwd": os.getcwd()}
    file.write(json.dumps({**told, "marker": os.environ.get("UWF_ATTEMPT")}) + "\\n")
print("noise")
session = words.get("--session")
if words["--mode"] == "fork" and os.path.exists(os.path.join(folder, "copies-with-prompt")):
    reply = {"continuation": "forked"}
elif words["--mode"] == "fork":
    reply = {"sessionId": f"fork{number}-of-{session}"}
elif words["--mode"] == "ask":
    reply = {"output": "because", "sessionId": session, "continuation": "continued"}
else:
    replies = json.load(open(os.path.join(folder, "replies")))
    said = replies[min(number, len(replies) - 1)]
    mark = {"mark": f"after{number}"} if said.get("mark") else {}
    reply = {"sessionId": session or f"new{number}", **said, **mark}
    if "--fork" in words:
        copy = {"sessionId": f"copy{number}-of-{words['--fork']}", "continuation": "forked"}
        reply = {**reply, **copy, **said}
print(json.dumps(reply))
"""
DONE = {"output": "---\n$status: done\n---\nDONE BODY\n"}
REJECTED = {"output": {"$status": "rejected", "comments": "no"}}
APPROVED = {"output": {"$status": "approved"}}
BAD = {"output": "no frontmatter"}


class Command:
    """A project whose agent is a command, what it answers, and how it was called."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._folder = project.folder.parent

    def use(self, capabilities: str, replies: Sequence[dict[str, Any]]) -> Client:
        agent = self._folder / "agent.py"
        agent.write_text(AGENT)
        self.answer(replies)
        self.project.config(
            f"agents:\n  me: {{command: {json.dumps(sys.executable)}, args: [{agent}], "
            f"capabilities: [{capabilities}]}}\n"
        )
        return self.project.client(default_agent="me")

    def answer(self, replies: Sequence[dict[str, Any]]) -> None:
        (self._folder / "replies").write_text(json.dumps(replies))

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self._folder / "calls").read_text().splitlines()]

    @property
    def modes(self) -> list[tuple[str, str | None, str]]:
        """Mode, session and prompt of each call."""
        words = [call["words"] for call in self.calls]
        return [(each["--mode"], each.get("--session"), each["--prompt"]) for each in words]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    project = Project(tmp_path)
    project.workflow("loop", LOOP)
    return Command(project)


def run(uwf: Client) -> str:
    thread = uwf.start("loop", "The task.")["thread"]
    assert uwf.exec(thread, until_done=True).document["status"] == "completed"
    return thread


def test_only_what_is_declared_is_asked_of_it(command: Command) -> None:
    with command.use("", [DONE, REJECTED, DONE, APPROVED]) as uwf:
        thread = run(uwf)
        with pytest.raises(UsageError, match="does not declare `ask`"):
            uwf.ask(uwf.steps(thread)[1]["step"], "why?")
        uwf.exec(uwf.fork(uwf.steps(thread)[2]["step"])["thread"], until_done=True)
    assert {(mode, session) for mode, session, _ in command.modes} == {("run", None)}
    assert "DONE BODY" in command.calls[2]["request"]["prompt"], "it has no memory of its own"


def test_an_agent_learns_whether_its_folder_is_trusted(command: Command) -> None:
    with command.use("ask", [DONE, REJECTED, DONE, APPROVED]) as uwf:
        thread = run(uwf)
        step = uwf.steps(thread)[1]["step"]
        uwf.ask(step, "why?")
        assert {call["request"]["trusted"] for call in command.calls} == {False}
        before = len(command.calls)
        assert command.project.uwf("config", "trust", str(command.project.folder)).exit_code == 0
        uwf.ask(step, "why?")
        uwf.exec(uwf.start("loop", "The task.")["thread"])
    later = [
        (call["words"]["--mode"], call["request"]["trusted"]) for call in command.calls[before:]
    ]
    assert set(later) == {("ask", True), ("run", True)}


def test_with_continue_each_role_goes_on_in_its_own_session(command: Command) -> None:
    with command.use("continue", [DONE, REJECTED, DONE, APPROVED]) as uwf:
        thread = run(uwf)
        proof = uwf.step(uwf.steps(thread)[3]["step"])["proof"]
    assert command.modes == [
        ("run", None, "Write it."),
        ("run", None, "Review it."),
        ("run", "new0", "Fix: no"),
        ("run", "new1", "Review it."),
    ]
    assert proof is not None, "answering the session that was asked for is the proof"
    assert "DONE BODY" not in command.calls[2]["request"]["prompt"], "it knows that already"


def test_who_can_fork_but_not_continue_begins_afresh_in_a_fork_of_the_thread(
    command: Command,
) -> None:
    """A fork that it could not go on in would be work for nothing."""
    with command.use("fork", [DONE, REJECTED, DONE, APPROVED]) as uwf:
        thread = run(uwf)
        fork = uwf.fork(uwf.steps(thread)[2]["step"])["thread"]
        before = len(command.calls)
        command.answer([DONE])
        assert uwf.exec(fork).exit_code == 0
        step = uwf.step(uwf.steps(fork)[-1]["step"])
    assert command.modes[before:] == [("run", None, "Fix: no")]
    assert "DONE BODY" in command.calls[-1]["request"]["prompt"]
    assert session_of(step)["continuation"] == "new"


def test_an_agent_with_marks_forks_and_is_asked_as_of_the_step(command: Command) -> None:
    replies = [{**each, "mark": True} for each in (DONE, REJECTED, DONE, APPROVED)]
    with command.use("continue, fork, ask", replies) as uwf:
        thread = run(uwf)
        asked = [uwf.ask(uwf.steps(thread)[1]["step"], "why?") for _ in range(2)]
        fork = uwf.fork(uwf.steps(thread)[2]["step"])["thread"]
        command.answer([DONE])
        uwf.exec(fork)
    assert [each["continuation"] for each in asked] == ["original", "original"]
    assert command.modes[4:] == [
        ("fork", "new0", ""),
        ("ask", "fork4-of-new0", "why?"),
        ("ask", "fork4-of-new0", "why?"),
        ("fork", "new0", "Fix: no"),
        ("run", "fork7-of-new0", "Fix: no"),
    ]
    assert [command.calls[at]["request"]["at"] for at in (4, 7)] == ["after0", "after0"]


def test_an_agent_without_marks_is_asked_afresh_about_a_step_that_its_session_left_behind(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its session knows what the role did later; a fork of it would know that, too."""
    with command.use("continue, fork, ask", [DONE, REJECTED, DONE, APPROVED]) as uwf:
        thread = run(uwf)
        old, newest = (uwf.steps(thread)[at]["step"] for at in (1, 3))
        asked = [uwf.ask(step, "why?")["continuation"] for step in (old, newest)]
    assert asked == ["reconstructed", "original"]
    assert command.modes[4:] == [
        ("ask", None, "why?"),
        ("fork", "new0", ""),
        ("ask", "fork5-of-new0", "why?"),
    ]
    assert command.calls[5]["request"]["at"] is None


@pytest.mark.parametrize(("shared", "knows"), [(2, False), (4, True)])
def test_an_agent_without_marks_starts_afresh_in_a_fork_whose_session_went_on(
    command: Command, shared: int, knows: bool
) -> None:
    with command.use("continue, fork", [DONE, REJECTED, DONE, REJECTED]) as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        uwf.exec(thread, count=4)
        fork = uwf.fork(uwf.steps(thread)[shared]["step"])["thread"]
        command.answer([DONE])
        uwf.exec(fork)
        step = uwf.step(uwf.steps(fork)[-1]["step"])
    assert [mode for mode, _, _ in command.modes[4:]] == (["fork", "run"] if knows else ["run"])
    assert session_of(step)["continuation"] == ("forked" if knows else "new")
    assert ("DONE BODY" in command.calls[-1]["request"]["prompt"]) is not knows


def test_a_session_that_an_attempt_has_used_since_is_not_forked_without_a_mark(
    command: Command,
) -> None:
    failed = {"error": {"kind": "crashed", "message": "it broke"}}
    with command.use("continue, fork, ask", [DONE, REJECTED, failed]) as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        uwf.exec(thread, count=3)
        first, attempt = uwf.steps(thread)[1]["step"], uwf.show(thread)["hint"]
        asked = uwf.ask(first, "why?")["continuation"]
    assert asked == "reconstructed", attempt
    assert [mode for mode, _, _ in command.modes[3:]] == ["ask"]


def again(uwf: Client, bundle: Path) -> str:
    """A thread of two steps as it comes back from its bundle; it had a third when it was removed,
    in the session of the first.
    """
    thread = uwf.start("loop", "The task.")["thread"]
    uwf.exec(thread, count=2)
    uwf.export_thread(thread, bundle)
    uwf.exec(thread)
    uwf.cancel(thread)
    uwf.remove(thread)
    uwf.import_bundle(bundle)
    return thread


def test_an_imported_thread_does_not_use_sessions_that_may_know_later_steps(
    command: Command, tmp_path: Path
) -> None:
    with command.use("continue, fork, ask", [DONE, REJECTED, DONE]) as uwf:
        thread = again(uwf, tmp_path / "b.tar")
        uwf.exec(fork := uwf.fork(uwf.show(thread)["head"])["thread"])
        asked = uwf.ask(uwf.steps(thread)[1]["step"], "why?")["continuation"]
        uwf.exec(thread)
        steps = [uwf.step(uwf.steps(each)[-1]["step"]) for each in (fork, thread)]
        assert uwf.verify()["problems"] == []
    assert asked == "reconstructed"
    assert [(mode, session) for mode, session, _ in command.modes[3:]] == [
        ("run", None),
        ("ask", None),
        ("run", None),
    ]
    assert [session_of(step)["continuation"] for step in steps] == ["new", "new"]
    assert "DONE BODY" in command.calls[-1]["request"]["prompt"], "nothing else knows it"


def test_an_imported_thread_forks_a_session_at_its_mark(command: Command, tmp_path: Path) -> None:
    replies = [{**each, "mark": True} for each in (DONE, REJECTED, DONE)]
    with command.use("continue, fork, ask", replies) as uwf:
        uwf.exec(thread := again(uwf, tmp_path / "b.tar"))
        assert session_of(uwf.step(uwf.show(thread)["head"]))["continuation"] == "forked"
    assert [(mode, session) for mode, session, _ in command.modes[3:]] == [
        ("fork", "new0"),
        ("run", "fork3-of-new0"),
    ]
    assert command.calls[3]["request"]["at"] == "after0"


def test_sessions_that_an_imported_thread_has_made_continue(
    command: Command, tmp_path: Path
) -> None:
    with command.use("continue, fork, ask", [DONE, REJECTED, DONE, DONE, REJECTED, DONE]) as uwf:
        thread = again(uwf, tmp_path / "b.tar")
        uwf.exec(thread, count=3)
        newest = uwf.step(uwf.show(thread)["head"])
        assert uwf.ask(newest["step"], "why?")["continuation"] == "original"
    assert [session for _, session, _ in command.modes[3:6]] == [None, None, "new3"]
    assert (session_of(newest)["id"], session_of(newest)["continuation"]) == ("new3", "continued")


def test_a_repair_keeps_an_imported_thread_from_the_sessions_of_its_bundle(
    command: Command, tmp_path: Path
) -> None:
    with command.use("continue, fork, ask", [DONE, REJECTED, DONE]) as uwf:
        thread, store = again(uwf, tmp_path / "b.tar"), uwf._engine.store
        head = store.variable(f"@uwf/thread/{thread}")
        assert head is not None
        store.set_variable(head.name, head.value, {**head.tags, "steps": "7"}, head)
        repaired = uwf.verify(repair=True)["repaired"]
        uwf.exec(thread)
    assert repaired == [head.name]
    assert [(mode, session) for mode, session, _ in command.modes[3:]] == [("run", None)]


def test_a_failed_attempt_is_asked_in_its_session(command: Command) -> None:
    failed = {"error": {"kind": "crashed", "message": "it broke"}}
    with command.use("continue, fork, ask", [failed, DONE]) as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        attempt = uwf.exec(thread).document["steps"][0]["step"]
        assert uwf.ask(attempt, "why?")["continuation"] == "original"
        uwf.exec(thread)
        assert uwf.steps(thread)[1]["step"] != attempt
    assert [mode for mode, _, _ in command.modes] == ["run", "fork", "ask", "run"]


def test_a_correction_goes_into_the_session_and_says_what_was_wrong(command: Command) -> None:
    with command.use("continue", [BAD, DONE]) as uwf:
        assert uwf.exec(uwf.start("loop", "The task.")["thread"]).exit_code == 0
    second = command.calls[1]
    assert (second["words"]["--mode"], second["words"]["--session"]) == ("run", "new0")
    assert second["request"]["purpose"] == "correction"
    assert "The task." not in second["words"]["--prompt"], "it knows that already"
    assert "frontmatter" in second["words"]["--prompt"], "the error is quoted"


def test_without_a_session_a_correction_says_everything_again(command: Command) -> None:
    with command.use("", [BAD, DONE]) as uwf:
        assert uwf.exec(uwf.start("loop", "The task.")["thread"]).exit_code == 0
    first, second = command.calls
    assert "--session" not in second["words"]
    prompt = second["request"]["prompt"]
    assert prompt.startswith(first["request"]["prompt"])
    assert "no frontmatter" in prompt, "and what was delivered"


def test_the_request_says_all_that_is_known(command: Command) -> None:
    with command.use("continue", [DONE, REJECTED, DONE]) as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        uwf.exec(thread, count=3)
        prompt = uwf.prompt(uwf.steps(thread)[-1]["step"])
    call = command.calls[-1]
    request = call["request"]
    assert (request["protocol"], request["mode"], request["purpose"]) == (1, "run", "run")
    assert (request["thread"], request["role"], request["stepNumber"]) == (thread, "developer", 3)
    assert (request["session"], request["prompt"]) == ("new0", prompt)
    assert request["schema"]["properties"]["$status"] == {"const": "done"}
    assert set(request["parts"]) == {
        *("instructions", "guidance", "task", "progress", "history", "instruction", "form"),
    }
    assert 'comments: "no"' in request["parts"]["history"]
    assert set(request) >= {"options", "limits", "cwd", "tools", "answer", "model"}
    assert set(request["limits"]) == {"seconds", "idleSeconds", "graceSeconds", "replyBytes"}
    assert call["cwd"] == request["cwd"] == str(command.project.folder)
    assert call["marker"] == f"{thread}/3.1"


def test_a_session_and_usage_beside_an_error_belong_to_the_attempt(command: Command) -> None:
    """The next run goes on where the agent stopped, and its tokens are counted."""
    limited = {
        "error": {"kind": "rate_limited", "message": "later"},
        "sessionId": "s1",
        "usage": {"inputTokens": 11},
    }
    with command.use("continue", [limited, DONE]) as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        failed = uwf.exec(thread).document["steps"][0]
        assert failed["usage"]["inputTokens"] == 11
        assert session_of(uwf.step(failed["step"]))["id"] == "s1"
        assert uwf.exec(thread).exit_code == 0
    assert [session for _, session, _ in command.modes] == [None, "s1"]


def test_a_session_beside_a_question_is_continued_with_the_answer(command: Command) -> None:
    form = {"properties": {"go": {"type": "boolean"}}, "required": ["go"]}
    asks = {
        "error": {"kind": "needs_answer", "message": "May I?", "form": form},
        "sessionId": "s1",
    }
    with command.use("continue", [asks, DONE]) as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        assert uwf.exec(thread).exit_code == 3
        assert uwf.resume(thread, answer="go=true", agent="mock").exit_code == 0
    call = command.calls[1]
    assert (call["words"]["--session"], call["request"]["answer"]) == ("s1", {"go": True})


def test_poke_shows_the_replaced_reply_to_an_agent_that_cannot_continue(command: Command) -> None:
    """It is told that what it said before is shown."""
    with command.use("", [DONE]) as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        uwf.exec(thread)
        uwf.poke(thread, "shorter")
    prompt = command.calls[1]["request"]["prompt"]
    assert "your earlier replies are below" in prompt
    assert "DONE BODY" in prompt


def test_poke_shows_no_reply_to_the_session_that_said_it(command: Command) -> None:
    with command.use("continue", [DONE]) as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        uwf.exec(thread)
        uwf.poke(thread, "shorter")
    assert "DONE BODY" not in command.calls[1]["request"]["prompt"]


def fork_that_is_made_with_a_prompt(command: Command, uwf: Client) -> tuple[str, str]:
    """A thread, and a fork of it, with an agent that copies a session only with a prompt."""
    (command._folder / "copies-with-prompt").touch()
    thread = uwf.start("loop", "The task.")["thread"]
    uwf.exec(thread, count=4)
    return thread, uwf.fork(uwf.steps(thread)[4]["step"])["thread"]


LOOPED = [DONE, REJECTED, DONE, REJECTED]


def test_a_session_may_be_copied_with_the_first_prompt_of_a_fork(command: Command) -> None:
    with command.use("continue, fork", LOOPED) as uwf:
        thread, fork = fork_that_is_made_with_a_prompt(command, uwf)
        command.answer([DONE])
        uwf.exec(fork)
        step = uwf.step(uwf.steps(fork)[-1]["step"])
        uwf.exec(thread)
        command.answer([REJECTED])
        uwf.exec(fork)
        command.answer([DONE])
        uwf.exec(fork)
    words = [{**call["words"], "--prompt": ""} for call in command.calls[4:]]
    told = [(each["--mode"], each.get("--session"), each.get("--fork")) for each in words]
    assert told == [
        ("fork", "new0", None),
        ("run", None, "new0"),
        ("run", "new0", None),
        ("fork", "new1", None),
        ("run", None, "new1"),
        ("run", "copy5-of-new0", None),
    ]
    assert command.calls[5]["request"]["forks"] is True
    assert (session_of(step)["continuation"], session_of(step)["id"]) == ("forked", "copy5-of-new0")
    assert step["proof"] == "it returned the sessionId of a copy"


@pytest.mark.parametrize(
    "said",
    [
        {"sessionId": "new0"},
        {"sessionId": "new0", "continuation": "continued"},
        {"sessionId": "other", "continuation": "new"},
        {"sessionId": None},
    ],
)
def test_a_copy_that_is_none_is_a_lost_session_and_never_the_other_threads(
    command: Command, said: dict[str, Any]
) -> None:
    with command.use("continue, fork", LOOPED) as uwf:
        _, fork = fork_that_is_made_with_a_prompt(command, uwf)
        command.answer([{**DONE, **said}] * 6 + [{**DONE}])
        uwf.exec(fork)
        step = uwf.step(uwf.steps(fork)[-1]["step"])
    assert (session_of(step)["continuation"], session_of(step)["id"]) == ("restarted", "new6")


@pytest.mark.parametrize("named", ["new0", None, "its own"])
def test_a_copy_that_fails_leaves_the_other_threads_session_alone(
    command: Command, named: str | None
) -> None:
    failed = {"error": {"kind": "crashed", "message": "it broke"}, "sessionId": named}
    with command.use("continue, fork", LOOPED) as uwf:
        _, fork = fork_that_is_made_with_a_prompt(command, uwf)
        command.answer([failed])
        attempt = uwf.exec(fork).document["steps"][-1]["step"]
        assert session_of(uwf.step(attempt))["id"] == ("its own" if named == "its own" else None)
        command.answer([DONE])
        uwf.exec(fork)
    used = [call["words"].get("--session") for call in command.calls[4:]]
    modes = [call["words"]["--mode"] for call in command.calls[4:]]
    assert "new0" not in [name for name, mode in zip(used, modes, strict=True) if mode == "run"]


def test_the_total_of_a_session_becomes_what_each_step_used(command: Command) -> None:
    def used(tokens: int, **more: Any) -> dict[str, Any]:
        return {"usage": {"inputTokens": tokens, **more}, "usageIsTotal": True}

    replies = [
        {**DONE, **used(10, durationMs=5)},
        {**REJECTED, **used(100)},
        {**BAD, **used(25, durationMs=7, outputTokens=3)},  # and its correction
        {**DONE, **used(40, outputTokens=5)},
        {**APPROVED, **used(30)},  # less than before: the agent has begun to count anew
    ]
    with command.use("continue", replies) as uwf:
        thread = run(uwf)
        usages = [uwf.step(row["step"])["usage"] for row in uwf.steps(thread)[1:]]
    assert [usage["inputTokens"] for usage in usages] == [10, 100, 30, 30]
    assert [usage["outputTokens"] for usage in usages] == [None, None, 2, None]
    assert "outputTokens" in usages[2]["atLeast"], "what it was before is not known"
