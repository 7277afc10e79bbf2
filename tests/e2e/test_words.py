"""What a user types: prompts from everywhere, retired names, exit codes, where output goes."""

import signal
import time
from collections.abc import Mapping
from typing import Any

import pytest

from uwf_core.testing.project import CommandOutcome, Project

WRITTEN = {"role": "writer", "output": {"$status": "done", "text": "x"}}
APPROVED = {"role": "reader", "output": {"$status": "approved"}}

RETIRED = {
    ("workflow", "put"): "uwf workflow add",
    ("thread", "step"): "uwf thread exec",
    ("thread", "steps"): "uwf step list",
    ("thread", "step-details"): "uwf step show",
    ("thread", "kill"): "uwf thread cancel",
    ("thread", "running"): "uwf thread list --status running",
}


def task_of(project: Project) -> str:
    """The task as the writer was told it."""
    step = project.uwf("step", "list", "@last").document["steps"][1]["step"]
    prompt = project.uwf("step", "read", step, "--prompt").stdout
    return prompt.split("````\n")[-2]


def test_the_task_comes_from_stdin_or_a_file_as_it_is(pair: Project):
    text = '# A task\n\nwith `code`, {{x}}, "quotes" and an umlaut: ä\n'
    pair.script([WRITTEN])
    (pair.folder / "task.md").write_bytes(b"\xef\xbb\xbf" + text.encode())
    for word, stdin in (("-", text), ("@task.md", "")):
        started = pair.uwf("thread", "start", "pair", "-p", word, stdin=stdin)
        assert pair.uwf("thread", "exec", started.document["thread"]).exit_code == 0
        assert task_of(pair) == text


@pytest.mark.parametrize(
    ("word", "stdin"), [("", ""), ("  ", ""), ("-", " \n"), ("@nowhere.md", ""), ("@.", "")]
)
def test_a_task_that_says_nothing_starts_no_thread(word: str, stdin: str, pair: Project):
    refused = pair.uwf("thread", "start", "pair", "-p", word, stdin=stdin)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.error["message"]
    assert refused.error["hint"]
    assert pair.uwf("thread", "list", "--all").document == {"threads": []}


def test_run_is_start_and_exec_until_done_in_one(pair: Project):
    pair.script([WRITTEN, APPROVED])
    ran = pair.uwf("run", "pair", "-p", "Do it").document
    started = pair.uwf("thread", "start", "pair", "-p", "Do it").document
    execed = pair.uwf("thread", "exec", started["thread"], "--until-done").document

    def shape(document: Mapping[str, Any]) -> Any:
        steps = [
            {**each, "thread": 0, "step": 0, "durationMs": 0, "usage": 0}
            for each in document["steps"]
        ]
        return {**document, "thread": 0, "steps": steps}

    assert shape(ran) == shape(execed)
    assert (ran["status"], ran["workflow"]) == ("completed", started["workflow"])


@pytest.mark.parametrize("words", RETIRED, ids=" ".join)
def test_a_retired_name_says_which_one_to_use(words: tuple[str, str], project: Project):
    for rest in ((), ("x",), ("--help",)):
        told = project.uwf(*words, *rest)
        assert (told.exit_code, told.stdout) == (2, "")
        assert RETIRED[words] in told.error["hint"]
    assert not project.home.exists()


def outcomes(pair: Project) -> dict[int, CommandOutcome]:
    """One command for each exit code that a single command can bring about."""
    lost = {"role": "writer", "output": {"$status": "done", "text": "x", "folder": "gone"}}
    unsure = {"role": "reader", "output": {"$status": "unsure", "question": "Which?"}}
    limited = pair.folder / ".workflow" / "pair.yaml"
    found = {}
    pair.script([WRITTEN, APPROVED])
    found[0] = pair.uwf("run", "pair", "-p", "x")
    found[2] = pair.uwf("thread", "exec", "01ARZ3NDEKTSV4RRFFQ69G5FAV")
    pair.script([lost])
    found[1] = pair.uwf("run", "pair", "-p", "x")
    pair.script([WRITTEN, unsure])
    found[3] = pair.uwf("run", "pair", "-p", "x")
    pair.script([{"role": "writer", "output": "no frontmatter"}])
    found[4] = pair.uwf("run", "pair", "-p", "x")
    pair.script([{"role": "writer", "fail": {"kind": "auth", "message": "key refused"}}])
    found[6] = pair.uwf("run", "pair", "-p", "x")
    limited.write_text(limited.read_text() + "limits: {maxSteps: 1}\n")
    pair.script([WRITTEN])
    found[5] = pair.uwf("run", "pair", "-p", "x")
    return found


def test_every_exit_code_means_one_thing_and_what_was_done_is_printed(pair: Project):
    found = outcomes(pair)
    assert {code: outcome.exit_code for code, outcome in found.items()} == {
        code: code for code in found
    }
    assert found[2].stdout == ""
    assert found[2].error["exitCode"] == 2
    told = {code: found[code].document for code in (0, 1, 3, 4, 5, 6)}
    assert {code: document["status"] for code, document in told.items()} == {
        0: "completed",
        **dict.fromkeys((1, 3, 4, 5, 6), "suspended"),
    }
    kinds = {code: (each["steps"][-1]["failure"] or {}).get("kind") for code, each in told.items()}
    assert kinds == {0: None, 1: "routing", 3: None, 4: "invalid_output", 5: None, 6: "auth"}


def test_who_comes_second_is_told_and_who_is_interrupted_can_go_on(pair: Project):
    """75 names the holder and prints nothing; 130 leaves a thread from which exec goes on."""
    pair.script([{"role": "writer", "hang": True}])
    thread = pair.uwf("thread", "start", "pair", "-p", "x").document["thread"]
    first = pair.start_uwf("thread", "exec", thread)
    try:
        deadline = time.monotonic() + 60
        while pair.uwf("thread", "show", thread).document["status"] != "running":
            assert time.monotonic() < deadline
        running = pair.uwf("thread", "show", thread).document["running"]
        second = pair.uwf("thread", "exec", thread)
        assert (second.exit_code, second.stdout) == (75, "")
        assert str(running["pid"]) in second.stderr
        assert running["pid"] == first.pid
        assert pair.uwf("thread", "wait", thread, "--timeout", "0.2").exit_code == 75
    finally:
        first.send_signal(signal.SIGINT)
        printed, _ = first.communicate(timeout=60)
    assert first.returncode == 130
    assert '"kind": "interrupted"' in printed
    assert pair.uwf("thread", "show", thread).document["suspendReason"] == "interrupted"
    pair.script([WRITTEN, APPROVED])
    assert pair.uwf("thread", "exec", thread, "--until-done").document["status"] == "completed"


def test_a_mistake_is_one_clear_error_and_no_traceback(pair: Project):
    for words in (
        ("thread", "show", "@last"),
        ("run", "nothing", "-p", "x"),
        ("run", "pair"),
        ("thread", "list", "--status", "happy"),
        ("thread", "list", "--after", "yesterday"),
        ("workflow", "add", "nowhere.yaml"),
        ("workflow", "show", "0000000000000"),
        ("cas", "get", "not a reference"),
        ("config", "get", "defaultAgnet"),
        ("thread", "list", "--limit", "-1"),
        ("frobnicate",),
        ("--format", "xml", "thread", "list"),
    ):
        told = pair.uwf(*words)
        assert (told.exit_code in (2, 4), told.stdout) == (True, ""), words
        assert "Traceback" not in told.stderr
        assert told.error["message"], words
        assert set(told.error) >= {"code", "message", "where", "hint", "exitCode"}
