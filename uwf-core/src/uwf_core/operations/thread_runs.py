"""What starts, runs and ends threads."""

# ruff: noqa: F403, F405 (the kinds of arguments are the words of the table)

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Unpack

from uwf_core.operations.declare import Kind, Tool
from uwf_core.operations.kinds import *
from uwf_core.operations.table import operation

if TYPE_CHECKING:
    from uwf_core.engine.documents import (
        CompactedDocument,
        StartedDocument,
        ThreadDocument,
    )
    from uwf_core.engine.results import Outcome
    from uwf_core.threads.tick import TickDocument, TickLines


@operation(
    "run", "threads.run_new:run_workflow", permission="run", client="run",
    mcp=[Tool("start", "workflow prompt cwd agent input " + LIMITS)],
)  # fmt: skip
def run(
    workflow: Workflow,
    prompt: Annotated[Prompt, "The task."],
    *,
    queue: Queue = False,
    **how: Unpack[StartAndRun],
) -> "Outcome":
    """Start a workflow and run it until it ends or suspends.

    WORKFLOW is a name, a file or a reference. Stops after 100 steps, with or without --until-done.

    > Start a workflow on a task, in the background. Give the whole task as `prompt`, since the
    > roles know nothing else.

    $ uwf run fix-bug -p "The total is off by one"
    $ uwf run ./review.yaml -p @task.md --agent human
    $ uwf run fix-bug -p "Off by one" --agent builtin --agent reviewer=claude-code
    $ uwf run fix-bug -p "Off by one" --max-cost 2 --wait-limits 30m
    $ uwf run triage -p "Sort it" --input issue=12 --input labels="[bug, ui]"
    """


@operation(
    "thread.compact", "threads.compact:compact_thread", text="thread:compacted_text",
    permission="run", client="compact",
)  # fmt: skip
def thread_compact(
    thread: Thread,
    text: Annotated[
        str | None,
        TEXT,
        Kind(options=("--text",)),
        "The summary.",
    ] = None,
    *,
    agent: Annotated[
        Agent | None, "Let this agent write the summary: an alias, a name or a command."
    ] = None,
    up_to: Annotated[Step | None, "The newest step to summarize (default: the newest)."] = None,
) -> "CompactedDocument":
    """Summarize older steps for new sessions; nothing is deleted.

    A session that exists continues with what it knows. Give the summary with --text, or let
    --agent write it in one call, whose usage counts. `thread read` shows all steps and the summary.

    $ uwf thread compact @last --agent builtin
    $ uwf thread compact 01JD8 --text @summary.md --up-to 3FQ8K
    """


@operation(
    "thread.exec", "threads.running:exec_steps", permission="run", client="exec",
    mcp=[Tool("exec", "thread until_done")],
)  # fmt: skip
def thread_exec(
    thread: Thread,
    *,
    count: Annotated[
        int | None,
        ONE_OR_MORE,
        Kind("", "N", options=("-c", "--count")),
        "Run N steps; 1 by default.",
    ] = None,
    now: Annotated[bool, "Run the next step before the time for which it waits."] = False,
    unattended: Annotated[bool, HIDDEN, "`uwf tick` has started the run."] = False,
    report: Annotated[bool, HIDDEN, "Report events as lines of JSON."] = False,
    queue: Queue = False,
    **how: Unpack[RunThread],
) -> "Outcome":
    """Run the next step or steps; a step is the work of one role.

    Stops at the end, at a suspension or a failure; call it again to continue. A reported step is
    durable. THREAD is an id, a unique prefix of one, or @last.

    > Run an idle, failed or interrupted thread on, in the background.

    $ uwf thread exec @last
    $ uwf thread exec 01JD8 --until-done
    $ uwf thread exec 01JD8 -c 3 --agent hermes
    """


@operation("step.fork", "threads.fork:fork_step", text="thread:started_text", permission="run")
@operation(
    "thread.fork", "threads.fork:fork_step", text="thread:started_text", permission="run",
    client="fork",
)  # fmt: skip
def thread_fork(
    step: Step,
    *,
    workflow: Annotated[
        Workflow | None, "Continue with this workflow: a name, file or reference."
    ] = None,
    folder: Annotated[
        str | None,
        Kind("optional", "[DIR]", options=("--with-files",)),
        "Restore the recorded files after STEP in a new folder DIR, and work there.",
    ] = None,
) -> "StartedDocument":
    """Start a new thread from a step: it shares the chain up to STEP, and copies nothing.

    STEP may be a start node. The parent thread is not affected. With --workflow the new thread
    continues with another version; it must have the role of STEP and an edge for its status.

    With --with-files the new thread works in a copy of the folder as it was after STEP: in git a
    new worktree, with the branch uwf/THREAD, else a plain folder. Without DIR it is a folder of
    uwf's home.

    $ uwf thread fork 3FQ8K
    $ uwf thread fork 3FQ8K --workflow ./fix-bug.yaml
    $ uwf thread fork 3FQ8K --with-files ../second-try
    """


@operation("thread.poke", "threads.running:poke_steps", permission="run", client="poke")
def thread_poke(
    thread: Thread,
    text: Annotated[Prompt, "The further instruction."],
    **how: Unpack[RunThread],
) -> "Outcome":
    """Rerun the last step with a further instruction; the new step replaces it.

    $ uwf thread poke @last -p "Also cover the empty list"
    $ uwf thread poke 01JD8 -p "Be brief" --agent hermes --until-done
    """


@operation(
    "thread.resume", "threads.running:resume_steps", permission="run", client="resume",
    mcp=[
        Tool("resume", "thread text until_done"),
        Tool(
            "answer", "thread answer text until_done",
            "Pass on what your user answered to a question of a thread: `answer` with the fields "
            "of `form`, or `text` if there is no form. Ask your user first. A permission that an "
            "agent asks for is not answered here.",
            permission="answer",
        ),
    ],
)  # fmt: skip
def thread_resume(
    thread: Thread,
    text: Annotated[Prompt | None, "A further instruction."] = None,
    *,
    answer: Annotated[
        Fields,
        Kind("answer", "ANSWER"),
        "Answer to a pending question: field=value (may be repeated), JSON, or @file.",
    ] = None,
    grants: Annotated[
        Sequence[str],
        Kind("texts", "LIMIT=AMOUNT", options=("--grant",)),
        "At a limit: add cost=5, tokens=N, steps=N or minutes=M; by default the same allowance.",
    ] = (),
    status: Annotated[
        str | None, CLI, Kind("", "NAME"), "Short for --answer '$status=NAME'."
    ] = None,
    without_answer: Annotated[
        bool, "Let a role that asks without a form continue; you answer nothing."
    ] = False,
    queue: Queue = False,
    **how: Unpack[RunThread],
) -> "Outcome":
    """Continue a suspended thread, or reopen a completed one.

    A question with a form expects --answer or --status; `thread show` prints the form. Any other
    question expects -p, or --without-answer.

    > Reopen a completed thread, or run a failed or interrupted one on, with a further instruction.
    > It neither answers a question nor grants more budget.

    $ uwf thread resume @last -p "Use the second option"
    $ uwf thread resume @last --status approved
    $ uwf thread resume 01JD8 --status rejected --answer comments='Too long'
    $ uwf thread resume 01JD8 --answer @answer.json
    $ uwf thread resume 01JD8 --grant cost=5
    """


@operation(
    "thread.start", "threads.start:start_thread", text="thread:started_text", permission="run",
    client="start",
)  # fmt: skip
def thread_start(
    workflow: Workflow,
    prompt: Annotated[Prompt, "The task."],
    *,
    queue: Annotated[bool, Kind(only="python")] = False,
    **what: Unpack[Start],
) -> "StartedDocument":
    """Create a thread of a workflow; `thread exec` runs it.

    WORKFLOW is a name, a file or a reference.

    $ uwf thread start fix-bug -p "The total is off by one"
    $ uwf thread start ./review.yaml -p @task.md --cwd ../project
    """


@operation(
    "thread.stop", "threads.control:stop_thread", text="thread:thread_text", permission="run",
    client="stop", mcp=[Tool("stop", "thread")],
)  # fmt: skip
def thread_stop(thread: Thread, *, head: Head = None) -> "ThreadDocument":
    """Stop a run in the background; `thread exec` continues it.

    > Stop a run in the background; `exec` continues it.

    $ uwf thread stop @last
    """


@operation(
    "thread.tag", "threads.tagging:tag_thread", text="thread:thread_text", permission="run",
    client="tag",
)  # fmt: skip
def thread_tag(
    thread: Thread, tags: Annotated[Tags, Kind("tags", "KEY=VALUE…")]
) -> "ThreadDocument":
    """Give a thread tags for lists; an empty value removes one.

    `thread list --tag` selects by them.
    `run` and `thread start` give tags with --tag.

    $ uwf thread tag @last team=web issue=812
    $ uwf thread tag @last issue=
    """


@operation(
    "thread.wait", "threads.control:wait_thread", client="wait",
    mcp=[Tool("wait", "thread timeout_s")],
)  # fmt: skip
def thread_wait(
    thread: Thread,
    timeout_s: Annotated[
        float | None,
        ZERO_OR_MORE,
        Kind("", "S", options=("--timeout",)),
        "Seconds to wait, then exit 75.",
    ] = None,
) -> "Outcome":
    """Wait for the current run and print its result; exits with its code.

    > Wait for the current run of a thread, 50 seconds at most. `status` is `running` and `exitCode`
    > is 75 if it has not ended: call it again.

    $ uwf thread wait @last --timeout 600
    """


@operation("tick", "threads.tick:tick", text="tick:tick_text", permission="run", client="tick")
def tick(
    *,
    scheduler: Annotated[
        str | None,
        Kind("", "cron|systemd|launchd", options=("--print",)),
        "Print the lines that run it every five minutes, and do nothing else.",
    ] = None,
    accept_clock: Annotated[bool, "The clock was put ahead, and is right now."] = False,
) -> "TickDocument | TickLines":
    """Continue the threads that are due and that nobody watches: for cron and the like.

    It fires the schedules that are due. It continues threads whose newest run was `uwf run`,
    --until-done or --background: after the pause before another attempt, after the time of an edge,
    and after their process has died. Each runs in a separate process, `limits.runs` (4) at a time.
    It leaves threads alone that you run step by step, that you have stopped, or that wait for a
    person or at a limit.

    If the clock was put ahead since the last pass, it does nothing and returns 2: what looks due is
    not. --accept-clock says that the clock is right now.

    $ uwf tick
    $ uwf tick --print cron
    """
