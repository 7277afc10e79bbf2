"""The operations of `uwf-eval` and `uwf eval`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypedDict, Unpack

from uwf_core.operations.declare import Bounds, Kind, Table
from uwf_core.operations.kinds import ONE_OR_MORE, OUTPUT, ZERO_OR_MORE
from uwf_eval.compare.records import Dimension, Metric, Over, Verdict

if TYPE_CHECKING:
    from uwf_core.client import ProblemsDocument
    from uwf_eval.compare.records import Comparison
    from uwf_eval.documents import (
        BundlesDocument,
        CalibrationsDocument,
        LogDocument,
        NewTask,
        RunDocument,
        RunsDocument,
        TrialDocument,
    )
    from uwf_eval.report.summary import Report

ORDER: Final = ("run", "resume", "new", "check", "calibrate", "report", "list", "show", "compare",
                "export")  # fmt: skip
TABLE: Final = Table(
    "uwf_eval",
    {"": ORDER},
    {"eval": "Evaluate workflows on tasks, and test whether a change improved them"},
)

Jobs = Annotated[int, Bounds(1, 64), Kind("", "J"), "Number of trials that run at the same time."]
Keep = Annotated[bool, "Keep the folders of the trials."]


class RecordedSteps(TypedDict, total=False):
    """The options that select recorded steps."""

    from_step: Annotated[
        Sequence[str], Kind("", "STEP"), "Recorded step to make again; repeatable."
    ]
    from_thread: Annotated[
        Sequence[str], Kind("", "T", "thread"),
        "Make the steps of --role in this thread again; repeatable.",
    ]  # fmt: skip
    from_workflow: Annotated[
        Sequence[str], Kind("", "NAME"), "The same for all threads of a workflow; repeatable."
    ]
    role: Annotated[
        str | None, Kind("", "R"),
        "Role of these steps: a name, or a path such as 'work/*' of called threads.",
    ]  # fmt: skip
    newest: Annotated[
        int | None, ONE_OR_MORE, Kind("", "N"), "With --from-workflow, only the N newest steps."
    ]
    files: Annotated[
        str | None, Kind("", "DIR"),
        "Start each trial with a copy of DIR, not with the recorded files.",
    ]  # fmt: skip


@TABLE.operation("run", "", run="run:run", permission="run")
def run(
    tasks: Annotated[Sequence[str], Kind("", "[TASK...]")] = (),
    *,
    agent: Annotated[Sequence[str], Kind("", "A"), "Agent to test; repeatable."] = (),
    model: Annotated[Sequence[str], Kind("", "M"), "Configured model to test; repeatable."] = (),
    workflow: Annotated[
        Sequence[str], Kind("", "W"), "Workflow to test instead of the tasks' own; repeatable."
    ] = (),
    repeat: Annotated[
        int, Bounds(1, 100_000), Kind("", "N"), "Number of trials of each combination."
    ] = 1,
    jobs: Jobs = 1,
    seed: Annotated[
        int | None, Bounds(0, 2**53), Kind("", "S"), "Seed of the order of trials."
    ] = None,
    budget: Annotated[
        str | None, Kind("", "B"), "Limit of the run, such as '$2.50,1h,500ktok,20trials'."
    ] = None,
    name: Annotated[str | None, "Name of the run."] = None,
    keep: Keep = False,
    **recorded: Unpack[RecordedSteps],
) -> "RunDocument":
    """Run tasks and judge every trial.

    With --from-step, --from-thread or --from-workflow, the trials are recorded steps, each made
    again alone, in place of the cases of TASK. TASK is optional then: without judges, a trial
    passes if it delivers the recorded $status.

    $ uwf-eval run examples/eval/fix-off-by-one --repeat 5
    $ uwf-eval run tasks/* --agent claude-code --agent hermes --jobs 4 --budget '$5,1h'
    $ uwf-eval run my-task --workflow old.yaml --workflow new.yaml --repeat 3
    $ uwf-eval run --from-workflow triage --role sorter --newest 50 --agent claude-code
    """


@TABLE.operation("resume", "", run="run:resume", permission="run")
def resume(
    run: str,
    *,
    jobs: Jobs = 1,
    budget: Annotated[str | None, Kind("", "B"), "Limit that replaces the run's own."] = None,
    task: Annotated[Sequence[str], "Corrected task, in place of the run's copy; repeatable."] = (),
    keep: Keep = False,
) -> "RunDocument":
    """Run the remaining trials of a run, and those with an infrastructure error.

    A trial that only its judges could not judge is judged again: no agent runs. A run uses its own
    copy of each task; --task replaces the copy by the corrected task.

    $ uwf-eval resume @last
    $ uwf-eval resume 01JC --jobs 4
    $ uwf-eval resume @last --task my-task
    """


@TABLE.operation("new", "", run="tasks:new")
def new(
    task: str,
    *,
    expect: Annotated[
        Sequence[str], Kind("", "FIELD=VALUE"),
        "Expected field of the answer of --from-thread; repeatable.",
    ] = (),
    **recorded: Unpack[RecordedSteps],
) -> "NewTask":  # fmt: skip
    """Create an example task, without a model and a key. TASK is a new folder.

    With --from-thread alone, it is that whole thread: its prompt, input and recorded files, and the
    answer that you expect. With --from-step, --from-workflow or --role, its cases are recorded
    steps. Add judges to it.

    $ uwf-eval new my-task
    $ uwf-eval new tasks/sorter --from-workflow triage --role sorter --newest 50
    $ uwf-eval new tasks/fire --from-thread 01JC --expect '$status=urgent'
    """


@TABLE.operation("check", "", run="check:check")
def check(tasks: Annotated[Sequence[str], Kind("", "TASK...")]) -> "ProblemsDocument":
    """Validate tasks and report every error: folders, archives, installed ones.

    $ uwf-eval check my-task
    $ uwf-eval check tasks/*
    """


@TABLE.operation("calibrate", "", run="calibrate:calibrate", permission="run")
def calibrate(
    judge: str,
    *,
    runs: Annotated[
        int, Bounds(2, 100), Kind("", "K"), "How often each item is judged as it is."
    ] = 3,
    dry_run: Annotated[bool, "Print the number of judgements and ask nothing."] = False,
    fail_if: Annotated[
        Sequence[Literal["below", "cannot_tell"]],
        "Exit with 1 if a judge has this verdict; repeatable.",
    ] = (),
) -> "CalibrationsDocument":
    """Measure a judge against gold labels: agreement with itself and with people, and bias by
    position and length.

    JUDGE is TASK/NAME, or a TASK for all its judges with a calibration set. A judge that does not
    reach the bar of its set has weight 0 in every run, until its prompt, model, options or set
    change and it is calibrated again.

    $ uwf-eval calibrate my-task/quality
    $ uwf-eval calibrate my-task --runs 5
    """


@TABLE.operation("list", "", run="results:list_")
def list_(
    *, limit: Annotated[int | None, ONE_OR_MORE, Kind("", "N"), "List at most N runs."] = None
) -> "RunsDocument":
    """List the runs, newest first.

    $ uwf-eval list
    $ uwf-eval list --limit 5 --format json
    """


@TABLE.operation("show", "", run="results:show")
def show(trial: str) -> "TrialDocument":
    """Show one trial, its steps and the result of each judge; the failure, commands that show more.

    TRIAL is RUN/NUMBER; RUN is an id, a unique prefix of one, a name or @last.

    $ uwf-eval show @last/3
    $ uwf-eval show nightly/12 --format json
    """


@TABLE.operation("export", "", run="export:export", formats=["inspect"])
def export(
    what: Annotated[str, Kind("", "TRIAL|RUN")],
    *,
    output: Annotated[
        str, OUTPUT, Kind("", "FILE|FOLDER"),
        "A file for one trial or a log, a new folder for the bundles of a run.",
    ],
) -> "BundlesDocument | LogDocument":  # fmt: skip
    """Export trials as bundles, or a run for Inspect; bundles have whole threads, for
    `uwf bundle verify` and `uwf cas import`.

    A TRIAL is RUN/NUMBER and becomes one file. A RUN becomes a folder with a bundle for each trial
    that has a thread, and run.json with the results of the judges.

    --format inspect writes a RUN as one log of Inspect (`inspect view`, `inspect log dump`): a
    sample for each trial, with its scores, usage and messages.

    $ uwf-eval export @last/3 -o trial.tar
    $ uwf-eval export nightly -o nightly-trials
    $ uwf-eval export @last --format inspect -o run.eval
    """


@TABLE.operation("report", "", run="report:report", formats=["markdown", "junit", "html"])
def report(
    run: Annotated[str, Kind("", "[RUN]")] = "@last",
    *,
    output: Annotated[str | None, OUTPUT, "Write the report into a file."] = None,
    html: Annotated[str | None, Kind("", "FILE"), "Also write one self-contained HTML page."]
    = None,
    min_score: Annotated[
        float | None, Bounds(0, 1), Kind("", "X"),
        "Exit with 1 if the mean score is below X or no trial counts.",
    ] = None,
    trials: Annotated[
        int, ZERO_OR_MORE, Kind("", "N"), "List at most N trials one by one in JSON and HTML."
    ] = 200,
) -> "Report":  # fmt: skip
    """Report the results of a run: success, scores, cost, routes, failures, with intervals.

    RUN is an id, a unique prefix of one, a name or @last (default).

    $ uwf-eval report
    $ uwf-eval report nightly --html report.html
    $ uwf-eval report @last --format junit -o trials.xml --min-score 0.8
    """


@TABLE.operation("compare", "", run="compare:compare", formats=["markdown"])
def compare(
    a: str,
    b: str,
    *,
    metric: Annotated[
        Sequence[Metric],
        "Metric to test; repeatable, the most important first. The last four: recorded steps.",
    ] = ("score",),
    within: Annotated[
        float, ZERO_OR_MORE, Kind("", "D"),
        "Differences up to D do not matter: of scores and pass rates D itself, of cost, tokens and "
        "duration D as a share of A's.",
    ] = 0.05,
    level: Annotated[
        float, Bounds(0.5, 1), Kind("", "P"), "Confidence level of verdicts and intervals."
    ] = 0.95,
    seed: Annotated[int, Kind("", "S"), "Seed of sampled permutations."] = 0,
    over: Annotated[
        Over | None,
        "Unit of comparison (default: case for recorded steps, else task). With case the result "
        "holds for these tasks only.",
    ] = None,
    by: Annotated[Dimension | None, "Compare two of these in one run (--run)."] = None,
    run: Annotated[str | None, "Run for --by; @last by default."] = None,
    trials: Annotated[int, ZERO_OR_MORE, Kind("", "N"), "List at most N changed trials."] = 20,
    fail_if: Annotated[
        Sequence[Verdict], "Exit with 1 if a metric has this verdict; repeatable."
    ] = (),
) -> "Comparison":  # fmt: skip
    """Test whether B is better than A, and show what changed: by how much and at what cost, or that
    the data are inconclusive; which settings, tasks and trials changed.

    A and B are runs: an id of `list`, a unique prefix, a name (the newest of it) or @last. Trials
    are paired by task, case and fixture. A is the version before, B the version now.

    $ uwf-eval compare baseline @last
    $ uwf-eval compare baseline @last --metric score --metric cost --within 0.02
    $ uwf-eval compare hermes claude-code --by agent --run @last
    $ uwf-eval compare main @last --fail-if worse --format markdown
    """
