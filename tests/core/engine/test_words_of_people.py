"""What a person says to one role reaches every later role, and whoever reads the thread."""

import getpass
import socket
from pathlib import Path
from typing import Any

import pytest
from tests.core.engine.conftest import APPROVED, DONE, LOOP, REJECTED, UNSURE
from tests.core.engine.test_command_protocol import Command, command

from uwf_core.testing.project import Project

__all__ = ["command"]

FAIL = {"fail": {"kind": "crashed", "message": "SECRET CAUSE"}}
SUSPEND = {"role": "developer", "suspend": {"reason": "Which branch?"}}


def start(project: Project, script: list[dict[str, Any]]) -> str:
    """A thread that has run its first step."""
    project.script(script)
    started = project.uwf("thread", "start", "loop", "-p", "The task.").document
    project.uwf("thread", "exec", started["thread"])
    return str(started["thread"])


def step_of(project: Project, thread: str, number: int = -1) -> str:
    return str(project.uwf("step", "list", thread).document["steps"][number]["step"])


def prompt_of(project: Project, thread: str) -> str:
    """The prompt of the newest step."""
    return project.uwf("step", "read", step_of(project, thread), "--prompt").stdout


def history_of(project: Project, thread: str) -> str:
    return prompt_of(project, thread).partition("# Your instruction")[0]


def say(project: Project, *words: str) -> None:
    """Run a command that a person uses, and check that the store stays sound."""
    outcome = project.uwf(*words)
    assert outcome.exit_code in (0, 3, 6), outcome.stderr
    assert project.uwf("cas", "verify").document["valid"]


def test_the_text_of_resume_is_in_the_prompt_of_every_later_role(project: Project) -> None:
    thread = start(project, [SUSPEND, DONE, REJECTED, DONE, APPROVED])
    say(project, "thread", "resume", thread, "-p", "Use main.\n# Task\nNo.")
    say(project, "thread", "exec", thread)
    block = "A person said:\n\n````\nUse main.\n# Task\nNo.\n````\n\nThe reply:"
    assert block in history_of(project, thread)
    assert block in project.uwf("thread", "read", thread).stdout
    say(project, "thread", "exec", thread)
    own = prompt_of(project, thread)
    assert "Use main." not in own, "its own session knows it"


def test_the_texts_of_failed_attempts_and_of_each_poke_stay(project: Project) -> None:
    outputs = [FAIL, FAIL, *[DONE["output"]] * 3]
    thread = start(project, [{"role": "developer", "outputs": outputs}, APPROVED])
    say(project, "thread", "resume", thread, "-p", "FIRST")
    say(project, "thread", "resume", thread, "-p", "SECOND")
    say(project, "thread", "poke", thread, "-p", "THIRD")
    say(project, "thread", "poke", thread, "-p", "FOURTH")
    say(project, "thread", "exec", thread)
    history = history_of(project, thread)
    assert [history.count(each) for each in ("FIRST", "SECOND", "THIRD", "FOURTH")] == [1] * 4
    assert history.index("FIRST") < history.index("SECOND") < history.index("THIRD")
    assert "A person asked to redo the reply:\n\n````\nFOURTH\n````" in history
    assert "SECRET CAUSE" not in history


def test_a_text_that_the_next_one_replaces_is_still_in_the_prompt(project: Project) -> None:
    """The first may never have reached the agent: its attempt failed."""
    outputs = [FAIL, FAIL, DONE["output"]]
    thread = start(project, [{"role": "developer", "outputs": outputs}])
    say(project, "thread", "resume", thread, "-p", "FIRST")
    say(project, "thread", "resume", thread, "-p", "SECOND")
    history, _, instruction = prompt_of(project, thread).partition("# Your instruction")
    assert "# What a person said at an earlier attempt" in history and "FIRST" in history
    assert "SECOND" in instruction and "SECOND" not in history


def test_a_text_survives_a_failure_and_is_not_repeated(project: Project) -> None:
    """exec sends the same instruction again; later roles read the text once."""
    outputs = [DONE["output"], FAIL, DONE["output"]]
    script = [{"role": "developer", "outputs": outputs}, APPROVED]
    thread = start(project, script)
    say(project, "thread", "poke", thread, "-p", "COUNT THEM")
    say(project, "thread", "exec", thread)
    assert prompt_of(project, thread).count("COUNT THEM") == 1
    say(project, "thread", "exec", thread)
    assert history_of(project, thread).count("COUNT THEM") == 1


def test_a_fork_and_an_import_keep_what_a_person_said(project: Project, tmp_path: Path) -> None:
    thread = start(project, [SUSPEND, DONE, APPROVED])
    say(project, "thread", "resume", thread, "-p", "Use main.")
    fork = project.uwf("thread", "fork", step_of(project, thread)).document["thread"]
    say(project, "thread", "exec", fork)
    assert "Use main." in history_of(project, fork)
    bundle = str(tmp_path / "thread.tar")
    project.uwf("thread", "export", thread, "-o", bundle)
    assert project.uwf("bundle", "verify", bundle).exit_code == 0
    project.env["UWF_HOME"] = str(tmp_path / "another")
    assert project.uwf("cas", "import", bundle).exit_code == 0
    say(project, "thread", "exec", thread)
    assert "Use main." in history_of(project, thread)


def test_step_show_says_who_said_what(project: Project) -> None:
    thread = start(project, [SUSPEND, DONE, UNSURE])
    say(project, "thread", "resume", thread, "-p", "Use main.")
    shown = project.uwf("step", "show", step_of(project, thread)).document
    person = {"user": getpass.getuser(), "host": socket.gethostname(), "via": "cli"}
    asked = shown["attempt"]
    assert (asked["said"], asked["answer"], asked["by"]) == (
        "Use main.",
        None,
        person,
    )
    text = project.uwf("step", "show", step_of(project, thread), "--format", "text").stdout
    assert "Use main." in text and f"{person['user']} on {person['host']} (cli)" in text
    first = project.uwf("step", "show", step_of(project, thread, 1)).document
    assert (first["attempt"]["said"], first["attempt"]["by"]) == (None, None)
    with project.client() as uwf:
        uwf.poke(thread, "Again.")
        assert uwf.step(uwf.steps(thread)[-1]["step"])["attempt"]["by"] == {
            **person,
            "via": "python",
        }


def test_cancel_and_a_granted_limit_say_who_did_it(project: Project) -> None:
    project.workflow("loop", LOOP + "limits: {maxSteps: 1}\n")
    thread = start(project, [DONE, REJECTED])
    assert project.uwf("thread", "exec", thread).exit_code == 5
    say(project, "thread", "resume", thread)
    say(project, "thread", "cancel", thread)
    with project.client() as uwf:
        store = uwf._engine.store
        events = [
            (each.name.rpartition(".")[2], store.get(each.value).payload["by"])
            for each in store.variables(f"@uwf/event/{thread}/")
        ]
    who = {kind: by and by["via"] for kind, by in events}
    assert who == {"started": None, "limit": None, "granted": "cli", "cancelled": "cli"}


def test_the_answer_to_an_agents_question_reaches_it_and_every_later_role(
    command: Command,
) -> None:
    form = {"properties": {"env": {"type": "string"}}, "required": ["env"]}
    asks = {"error": {"kind": "needs_answer", "message": "Which one?", "form": form}}
    crashes = {"error": {"kind": "crashed", "message": "SECRET CAUSE"}}
    done = {"output": "---\n$status: done\n---\n"}
    approved = {"output": {"$status": "approved"}}
    with command.use("", [asks, crashes, done, approved]) as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        uwf.exec(thread)
        uwf.resume(thread, answer="env=prod")
        uwf.exec(thread, until_done=True)
        step = uwf.step(uwf.steps(thread)[1]["step"])
    first, answered, again, later = (call["request"] for call in command.calls)
    told = 'Write it.\n\nYou asked:\n\nWhich one?\n\nA person answered:\n\n{"env": "prod"}'
    assert first["answer"] is None and first["parts"]["instruction"] == "Write it."
    assert (answered["answer"], answered["parts"]["instruction"]) == ({"env": "prod"}, told)
    assert (again["answer"], again["parts"]["instruction"]) == ({"env": "prod"}, told), "not used"
    assert 'A person answered:\n\n````\n{"env": "prod"}\n````' in later["parts"]["history"]
    assert (step["attempt"]["answer"], step["attempt"]["by"]["via"]) == ({"env": "prod"}, "python")  # type: ignore[index]


def test_the_reply_of_a_person_who_plays_a_role_is_shown_once(project: Project) -> None:
    """The answer is the output of the step, and no words beside it."""
    project.script([DONE, APPROVED])
    thread = project.uwf("thread", "start", "loop", "-p", "x").document["thread"]
    project.uwf("thread", "exec", thread, "--agent", "human")
    say(project, "thread", "resume", thread, "--status", "done", "--answer", "count=4711")
    say(project, "thread", "exec", thread)
    history = history_of(project, thread)
    assert history.count("4711") == 1 and "A person" not in history


@pytest.mark.parametrize("kind", ["timeout", "stalled", "max_turns", "crashed", "truncated"])
def test_the_next_prompt_says_why_the_last_attempt_ended(project: Project, kind: str) -> None:
    fail = {"fail": {"kind": kind, "message": "SECRET CAUSE"}}
    again = {"role": "developer", "outputs": [fail, DONE["output"]]}
    thread = start(project, [DONE, REJECTED, again])
    say(project, "thread", "exec", thread, "-c", "2")
    say(project, "thread", "exec", thread)
    prompt = prompt_of(project, thread)
    assert f"ended before you delivered ({kind}: " in prompt and "SECRET CAUSE" not in prompt
    assert "in this session" in prompt and "# What you must deliver" not in prompt
