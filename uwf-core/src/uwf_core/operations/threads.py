"""What is done with threads."""

# ruff: noqa: F403, F405 (the kinds of arguments are the words of the table)

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack

from uwf_core.operations.declare import Kind, Tool
from uwf_core.operations.kinds import *
from uwf_core.operations.table import command, operation

if TYPE_CHECKING:
    from uwf_core.engine.bundle_documents import BundleDocument, ExportDocument
    from uwf_core.engine.documents import (
        ManyThreads,
        PrunedDocument,
        RemovedDocument,
        ThreadDocument,
        ThreadRow,
        UsageDocument,
    )
    from uwf_core.replay.replay import ReplayDocument
    from uwf_core.views.inbox import InboxItem


@operation(
    "inbox", "views.inbox:inbox", run="inbox:inbox", key="items", permission="answer",
    client="inbox",
    mcp=[Tool("inbox", permission="read")],
)  # fmt: skip
def inbox(
    thread: Annotated[str | None, PYTHON] = None,
    *,
    answer: Annotated[bool, CLI, "Go through all of it on this terminal."] = False,
) -> "Sequence[InboxItem]":
    """Show what waits for you, or answer it: the longest wait first, with commands to continue.

    These are the questions of roles and agents, failures, limits and interrupted runs of all
    threads, and queued threads that no live worker can run. With --answer uwf asks you one after
    the other; an answer is stored at once, and its thread continues in the background. Enter or
    Ctrl-C leaves a question as it is.

    > List what waits for a person, the longest wait first: questions with the `form` of an answer,
    > failures, limits.

    $ uwf inbox
    $ uwf inbox --answer
    $ uwf inbox --format json
    """


command("watch", "cli.watch:watch")


@operation("thread.cancel", "", run="thread_many:cancel", permission="run")
def thread_cancel(
    threads: Annotated[Sequence[str], Kind("", "[THREAD…]")] = (),
    *,
    yes: Yes = False,
    head: Head = None,
    **chosen: Unpack[Filter],
) -> "ThreadDocument | ManyThreads":
    """Cancel threads permanently; stops those that run.

    Name them, or select unfinished ones with options; then uwf shows how many there are and asks.

    $ uwf thread cancel @last
    $ uwf thread cancel 01JD8ZK3 01JD9A2B
    $ uwf thread cancel --workflow fix-bug --before 30d
    """


@operation("thread.diff", "", run="diff:thread_diff", mcp=[Tool("diff", "a b", pages="rows")])
def thread_diff(
    a: Annotated[str, Kind("", "A", "thread")],
    b: Annotated[str | None, Kind("", "[B]", "thread")] = None,
    *,
    quota: Quota = QUOTA,
    output: Annotated[
        str | None,
        OUTPUT,
        "Write one HTML page, side by side; with A alone, the patch for `git apply`.",
    ] = None,
) -> Mapping[str, Any]:
    """Compare two threads, or show what one has changed in its git worktree.

    Two threads are a fork and its origin, or two runs of one task.

    Names the first divergence: the step, and in what it differs first. Then shows the steps side
    by side: first the common ones, then the first of each role beside the first, the second beside
    the second. Times, sessions, ids, agents and usage are shown, but do not count as a divergence.

    With A alone: the changes of the thread's worktree since the commit at which it begins,
    committed or not, as a patch.

    Exit code 0 without a divergence or change, 1 with one; errors have their own codes, 2 for an
    unknown thread.

    > Compare two threads: the first divergence in one sentence, then the aligned steps.

    $ uwf thread diff 01JD8ZK3 @last
    $ uwf thread diff 01JD8ZK3 @last -o diff.html
    $ uwf thread diff @last -o work.patch
    """


@operation("thread.export", "", run="store:export", permission="run")
def thread_export(
    thread: Thread,
    *,
    output: Annotated[str | None, OUTPUT, "File to write or replace."] = None,
    with_files: Annotated[bool, "Include recorded files, which are not redacted."] = False,
    attest: Annotated[bool, "Also write FILE.intoto.json, an in-toto statement to sign."] = False,
    name: Annotated[str | None, Kind("format", "an exporter", "export", ("--format",))] = None,
) -> "BundleDocument | ExportDocument":
    """Write a thread to one file: a bundle of it, those that it called and everything reachable.

    Contains the workflow, all types, prompts, raw texts and turns, a SHA-256 of each node and a
    root over all nodes that is the same in every store. `uwf bundle verify` verifies it without
    a store, `uwf cas import` imports it. With --with-files, the recorded files of all steps come
    along, for `uwf thread fork --with-files`; a known secret in one is an error. --attest also
    writes a statement for signing tools: cosign attest-blob --statement, or ssh-keygen -Y sign.

    --format NAME writes the format of an exporter instead, without -o on stdout: html and markdown
    are the page of `uwf thread why`, atif is for Harbor, otlp-json for OpenTelemetry (with the
    texts: otlp-json-content), plugins add others (`uwf plugin list`).

    $ uwf thread export @last -o thread.tar
    $ uwf thread export @last --format html -o why.html
    $ uwf thread export @last -o thread.tar --attest
    """


@operation(
    "thread.list", "", run="thread_list:list_", key="threads",
    mcp=[Tool("list", "status workflow role failure text all limit")],
)  # fmt: skip
def thread_list(
    *,
    all: Annotated[bool, Kind(options=("-a", "--all")), "Also show finished threads."] = False,
    limit: Annotated[int | None, ONE_OR_MORE, Kind("", "N"), "Show at most N."] = None,
    offset: Annotated[int, ZERO_OR_MORE, Kind("", "N"), "Skip the first N."] = 0,
    children: Annotated[bool, "Also show threads that other threads called."] = False,
    trials: Annotated[bool, "Also show threads of the trials of uwf-eval."] = False,
    **chosen: Unpack[Filter],
) -> "Sequence[ThreadRow]":
    """List threads, newest first; finished ones only with --all or --status.

    A thread that calls another shows the state of that one; --children lists it as well.

    > List threads, newest first, with their status: 20, or as many as `limit` says. By default only
    > those that have not ended.

    $ uwf thread list
    $ uwf thread list --all --after 7d
    $ uwf thread list --status suspended,idle --workflow fix-bug
    $ uwf thread list --failure rate_limited --tag team=web
    """


@operation(
    "thread.read", "views.read:thread_document", text="{text}", key="text", document=True,
    client="read",
    mcp=[Tool("read", "thread before")],
)  # fmt: skip
def thread_read(
    thread: Thread,
    quota: Quota = QUOTA,
    before: Annotated[
        Step | None, Kind(options=("--before",)), "Only steps before this one."
    ] = None,
) -> str:
    """Read a thread as Markdown: the task and the newest steps within the quota.

    > Read a thread as Markdown: the task and the newest steps. A long text comes in pages.

    $ uwf thread read @last
    $ uwf thread read 01JD8 --quota 8000
    """


@operation("thread.rm", "", run="thread_many:rm", permission="admin")
def thread_rm(
    threads: Annotated[Sequence[str], Kind("", "[THREAD…]")] = (),
    *,
    yes: Yes = False,
    **chosen: Unpack[Filter],
) -> "RemovedDocument | ManyThreads":
    """Delete finished threads; their nodes stay until `uwf cas gc`.

    Name them, or select finished ones with options; then uwf shows how many there are and asks. A
    git worktree of a thread is removed too, unless it has uncommitted changes, and its branch if
    another branch has all of its commits.

    $ uwf thread rm 01JD8ZK3
    $ uwf thread rm 01JD8ZK3 01JD9A2B
    $ uwf thread rm --status cancelled --before 30d --yes
    """


@operation(
    "thread.show", "views.show:show_thread", text="thread:thread_text", client="show",
    mcp=[Tool("show", "thread")],
)  # fmt: skip
def thread_show(thread: Thread) -> "ThreadDocument":
    """Show the status of a thread: the reason of a suspension, and the next command.

    THREAD is an id, a unique prefix of one, or @last.

    > Show the status of a thread: its task, `currentRole`, `suspendReason`, `suspendMessage`, the
    > `form` of an answer, and the threads that it called.

    $ uwf thread show @last
    $ uwf thread show 01JD8 --format json
    """


@operation("replay", "", run="replay:replay", key="replays", formats=("junit",))
def replay(
    threads: Annotated[Sequence[str], Kind("", "THREAD…")],
    *,
    workflow: Annotated[Workflow | None, "Replay with this name, file or reference."] = None,
    allow: Annotated[Sequence[Literal["stale"]], "A further verdict that counts as success."] = (),
    live: Annotated[bool, "Fork at the first step that is not the same, and run on."] = False,
    start: Annotated[
        Step | None, Kind(options=("--from",)), "With --live: fork at this step instead."
    ] = None,
    agent: Annotated[Agent | None, "With --live: agent for the new steps."] = None,
) -> "Sequence[ReplayDocument]":
    """Check recorded threads against their workflow, or against a changed one; runs no agent.

    The recorded replies stand in for the agents. Each step is the same; stale (its prompt has
    changed, so the recorded reply is an assumption); different (another route or folder, or an
    output that is no longer valid); or unreachable (after such a step). Exit code 0 if all are the
    same, else 1.

    $ uwf replay @last
    $ uwf replay 01JD8 01JD9 --workflow ./fix-bug.yaml --format junit > replay.xml
    $ uwf replay @last --workflow ./fix-bug.yaml --live
    """


@operation(
    "usage", "views.usage:usage_of", text="usage:usage_text", client="usage",
    mcp=[Tool("usage", "thread workflow by", pages="rows")],
)  # fmt: skip
def usage(
    thread: Annotated[str | None, Kind("", "[THREAD]")] = None,
    *,
    workflow: Annotated[
        str | None, Kind("", "W", "workflow"), "Only threads of this workflow (name or reference)."
    ] = None,
    since_ms: Annotated[
        int | None, MOMENT, Kind(options=("--since",)), "Started since a date, or 7d, 12h."
    ] = None,
    by: Annotated[Literal["role", "agent", "model", "workflow"], "The groups."] = "role",
) -> "UsageDocument":
    """Show what threads have used: steps, time, tokens and cost, with all that they called.

    Failed attempts and questions to past steps count. ≥ marks a sum of which a part is unknown.
    THREAD is an id, a unique prefix of one, or @last; without it all threads count.

    > Sum up the tokens, cost and time of one thread or of all, by role, agent, model or workflow.

    $ uwf usage
    $ uwf usage @last --by agent
    $ uwf usage --workflow fix-bug --since 7d --by model
    """


@operation("store.prune", "", run="thread_many:prune", permission="admin")
def store_prune(
    *,
    older_than: Annotated[float, SPAN, "Delete threads that finished longer ago than 90d, 12h …."],
    dry_run: Annotated[bool, "Show which ones; delete nothing."] = False,
) -> "PrunedDocument":
    """Delete the threads that finished long ago; `uwf cas gc` then frees their nodes.

    A thread goes with all that it called. Unfinished and corrupt threads stay.

    $ uwf store prune --older-than 90d --dry-run
    $ uwf store prune --older-than 90d
    """
