"""The operations of `uwf improve`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal, Unpack

from uwf_core.operations.declare import Bounds, Kind, Table
from uwf_core.operations.kinds import MOMENT, ONE_OR_MORE
from uwf_eval.operations import Jobs, RecordedSteps

if TYPE_CHECKING:
    from uwf_improve.documents import (
        DraftDocument,
        EditDocument,
        EditsDocument,
        ReflectionDocument,
        ReportDocument,
        SealDocument,
        SetDocument,
        TriedDocument,
        VerdictDocument,
    )

ORDER: Final = (
    "reflect", "propose", "seal", "try", "decide", "open", "list", "show", "report",
)  # fmt: skip
TABLE: Final = Table(
    "uwf_improve",
    {"": ORDER},
    {"improve": "Improve a workflow, and confirm it on tasks that the search never saw"},
)

Set = Annotated[str, Kind("", "SET")]
TrialAgent = Annotated[str | None, Kind("", "A"), "Agent of all trials, not that of each task."]
TrialModel = Annotated[str | None, Kind("", "M"), "Configured model of all trials."]


@TABLE.operation("reflect", "", run="reflect:reflect", permission="run")
def reflect(
    workflow: str,
    *,
    since: Annotated[int | None, MOMENT, "Started since a date, or 30d, 12h."] = None,
    limit: Annotated[int, ONE_OR_MORE, Kind("", "N"), "Read at most the N newest threads."] = 500,
    show_prompt: Annotated[bool, "Print what an agent would get; send nothing."] = False,
    agent: Annotated[
        str | None, Kind("", "A"), "Send findings and recorded texts to this agent."
    ] = None,
    model: Annotated[
        str | None, Kind("", "M"), "The same to a configured model (builtin agent)."
    ] = None,
) -> "ReflectionDocument":
    """Find what goes wrong again and again in the recorded threads of a workflow.

    Each finding has a number and the steps that show it. No model is called and nothing leaves
    this machine, except with --agent or --model.

    $ uwf improve reflect fix-bug
    $ uwf improve reflect fix-bug --since 30d --format json
    $ uwf improve reflect fix-bug --agent claude-code
    """


@TABLE.operation("propose", "", run="propose:propose", permission="run")
def propose(
    workflow: str,
    *,
    edited: Annotated[
        str | None, Kind("", "PATH"), "The edited file, or a folder with it and skills/."
    ] = None,
    patch: Annotated[
        str | None, Kind("", "FILE"), "A patch of the workflow file, as of git diff."
    ] = None,
    text: Annotated[
        Sequence[str], Kind("", "PLACE=TEXT"),
        "New text of a place such as roles.writer.goal; repeatable; @FILE reads it.",
    ] = (),
    agent: Annotated[str | None, Kind("", "A"), "Let this agent draft it, from findings."] = None,
    model: Annotated[
        str | None, Kind("", "M"), "The same with a configured model (builtin agent)."
    ] = None,
    finding: Annotated[
        Sequence[int], Kind("", "N"), "Number of a finding that it answers; repeatable."
    ] = (),
    since: Annotated[int | None, MOMENT, "Findings since a date, or 30d."] = None,
    why: Annotated[str | None, Kind("", "TEXT"), "The reason, for those who decide."] = None,
    set_: Annotated[
        Set | None, Kind(options=("--set",)), "Refuse texts copied from tasks of this set."
    ] = None,
    gepa: Annotated[
        int | None, ONE_OR_MORE, Kind("", "N"),
        "Search with GEPA, with at most N trials of open tasks of --set.",
    ] = None,
    trial_agent: Annotated[
        str | None, Kind("", "A"), "With --gepa: agent of the trials."
    ] = None,
    trial_model: Annotated[
        str | None, Kind("", "M"), "With --gepa: configured model of the trials."
    ] = None,
    jobs: Annotated[
        Jobs | None, "With --gepa: number of trials that run at the same time."
    ] = None,
) -> "DraftDocument":  # fmt: skip
    """Draft an edit of a workflow, checked, guarded and replayed on recorded threads: goals,
    procedures, outputs, edge prompts or skills.

    WORKFLOW is a file or a name in `.workflow`; the file itself does not change before
    `uwf improve report --apply`. No trial runs, except with --gepa: a search on the open tasks of a
    set, whose scores confirm nothing.

    $ uwf improve propose fix-bug --edited fix-bug-2.yaml --finding 1 --why 'asks for a source'
    $ uwf improve propose fix-bug --text roles.writer.goal='Cite a source for each number.'
    $ uwf improve propose fix-bug --agent claude-code
    $ uwf improve propose fix-bug --gepa 60 --agent claude-code --set bugs --jobs 4
    """


@TABLE.operation("seal", "", run="sets:seal", permission="run")
def seal(
    set_: Set,
    tasks: Annotated[Sequence[str], Kind("", "TASK...")] = (),
    *,
    metric: Annotated[Literal["score", "success"], "What must become better."] = "score",
    gain: Annotated[str, Kind("", "SHARE"), "Smallest gain worth having."] = "2%",
    guard: Annotated[
        Sequence[str], Kind("", "METRIC=SHARE"),
        "Metric that may become worse by at most this; repeatable. Default: tampering=0, "
        "infra_errors=5%.",
    ] = (),
    sealed: Annotated[int, Bounds(12), Kind("", "N"), "Number of tasks to seal."] = 40,
    repeat: Annotated[
        int, Bounds(1, 1000), Kind("", "N"), "Trials of each task on each side."
    ] = 3,
    add: Annotated[bool, "Add tasks to a set; its bar stays."] = False,
    dry_run: Annotated[
        bool,
        "Store nothing; show the runs of a test, and which gain it accepts in 8 of 10 cases. "
        "Without TASK: of --sealed tasks.",
    ] = False,
) -> "SealDocument":  # fmt: skip
    """Split tasks into open and sealed ones, and store the bar that an edit must reach.

    Each case of a task counts as a task. The tasks are copied: later changes of them change no
    test. The bar cannot be changed afterwards.

    $ uwf improve seal bugs tasks/* --gain 5% --guard cost=20% --guard tampering=0
    $ uwf improve seal bugs more-tasks/* --add
    $ uwf improve seal bugs --sealed 80 --dry-run
    """


@TABLE.operation("try", "", run="test:try_", permission="run")
def try_(
    edit: str,
    *,
    agent: TrialAgent = None,
    model: TrialModel = None,
    jobs: Jobs = 1,
    set_: Annotated[
        Set | None, Kind(options=("--set",)), "Try it on the open tasks of this set."
    ] = None,
    judges: Annotated[
        str | None, Kind("", "TASK"), "With recorded steps: judge them as this task does."
    ] = None,
    repeat: Annotated[
        int, Bounds(1, 1000), Kind("", "N"), "Number of trials of each task on each side."
    ] = 1,
    **recorded: Unpack[RecordedSteps],
) -> "TriedDocument":
    """Try an edit on the open tasks of a set, or on recorded steps, beside the present version.

    This is for the search; it confirms nothing. With --from-step, --from-thread or --from-workflow,
    each recorded step is made again alone, in both versions: one step costs less than a thread.
    Steps of threads of which sealed tasks were made are refused. `uwf eval compare` shows the
    difference.

    $ uwf improve try @last --set bugs --repeat 1 --jobs 4
    $ uwf improve try @last --from-workflow fix-bug --role reviewer --newest 20
    $ uwf improve try @last --from-step 3KF9 --judges tasks/review
    """


@TABLE.operation("decide", "", run="test:decide", permission="run")
def decide(
    edit: str,
    *,
    agent: TrialAgent = None,
    model: TrialModel = None,
    jobs: Jobs = 1,
    set_: Annotated[Set, Kind(options=("--set",)), "The set of tasks."],
    dry_run: Annotated[bool, "Print the number and the cost of the runs."] = False,
    fail_if: Annotated[
        Literal["not-accepted"] | None, Kind("", "VERDICT"),
        "not-accepted: exit with 1 on this verdict.",
    ] = None,
) -> "VerdictDocument":  # fmt: skip
    """Test an edit on the sealed tasks of a set, to accept it or not; a test can be refused.

    Both versions run, interleaved, on whole threads. The k-th test of a set uses alpha / 2^k, and
    there are at most four. Exit code 0 with a verdict; the same command resumes a test that was
    interrupted.

    $ uwf improve decide @last --set bugs --dry-run
    $ uwf improve decide @last --set bugs --jobs 4
    """


@TABLE.operation("open", "cli.sets:open_tasks", text="sets:set_text", permission="run")
def open_(set_: Set) -> "SetDocument":
    """Open the sealed tasks of a set and show their trials. They can never be sealed again.

    $ uwf improve open bugs
    """


@TABLE.operation("list", "cli.edits:list_edits", text="edits:list_text")
def list_() -> "EditsDocument":
    """List the drafted edits with their states, and the sets of tasks.

    $ uwf improve list
    """


@TABLE.operation("show", "cli.edits:show_edit", text="edits:edit_text")
def show(edit: str) -> "EditDocument":
    """Show a drafted edit, the findings that it cites, and its patch; its state.

    EDIT is an id, a unique prefix of one, @last or @accepted.

    $ uwf improve show @last
    $ uwf improve show 4be1 > edit.patch --format text
    """


@TABLE.operation("report", "", run="report:report", permission="run")
def report(
    edit: str,
    *,
    apply: Annotated[bool, "Write the edit to the workflow file."] = False,
    untested: Annotated[bool, "With --apply: also an edit that is not accepted."] = False,
) -> "ReportDocument":
    """Report an edit for those who decide, or apply it: what was seen, what changes, how much
    better it is at least, its cost.

    The report is Markdown for people who know the work, not statistics. --apply writes an accepted
    edit to the file of the workflow, if that has not changed since.

    $ uwf improve report @last --format text > report.md
    $ uwf improve report @last --apply
    """
