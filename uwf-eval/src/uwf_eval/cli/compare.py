"""`uwf-eval compare`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from uwf_core.commands import Session, command
from uwf_core.errors import ExitCode, UsageError
from uwf_eval.compare.records import (
    DIMENSIONS,
    METRICS,
    STEP_METRICS,
    VERDICTS,
    CompareOptions,
    Dimension,
)

if TYPE_CHECKING:
    from uwf_eval.compare.records import Comparison

_EXAMPLES: Final = (
    "uwf-eval compare baseline @last",
    "uwf-eval compare baseline @last --metric score --metric cost --within 0.02",
    "uwf-eval compare hermes claude-code --by agent --run @last",
    "uwf-eval compare main @last --fail-if worse --format markdown",
)


@command("compare", *_EXAMPLES, formats=("markdown",))
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option(
    "--metric", "metrics", multiple=True, type=click.Choice((*METRICS, *STEP_METRICS)),
    default=("score",), show_default="score",
    help="Metric to test; repeatable, the most important first. The last four: recorded steps.",
)  # fmt: skip
@click.option(
    "--within", type=click.FloatRange(min=0), default=0.05, show_default=True, metavar="D",
    help="Differences up to D do not matter: of scores and pass rates D itself, of cost, tokens "
    "and duration D as a share of A's.",
)  # fmt: skip
@click.option(
    "--level", type=click.FloatRange(0.5, 1, max_open=True), default=0.95, show_default=True,
    help="Confidence level of verdicts and intervals.",
)  # fmt: skip
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of sampled permutations."
)
@click.option(
    "--over", type=click.Choice(("task", "case")),
    show_default="case for recorded steps, else task",
    help="Unit of comparison. With case the result holds for these tasks only.",
)  # fmt: skip
@click.option(
    "--by", type=click.Choice(DIMENSIONS), help="Compare two of these in one run (--run)."
)
@click.option("--run", "word", metavar="RUN", help="Run for --by; @last by default.")
@click.option(
    "--trials", type=click.IntRange(min=0), default=20, show_default=True, metavar="N",
    help="List at most N changed trials.",
)  # fmt: skip
@click.option(
    "--fail-if", "fatal", multiple=True, type=click.Choice(VERDICTS),
    help="Exit with 1 if a metric has this verdict; repeatable.",
)  # fmt: skip
def compare(session: Session, a: str, b: str, fatal: Sequence[str], **asked: Any) -> int:
    """Test whether B is better than A, by how much and at what cost, or that the data are
    inconclusive. Show which settings, tasks and trials changed.

    A and B are runs: an id of `list`, a unique prefix, a name (the newest of it) or @last. Trials
    are paired by task, case and fixture. A is the version before, B the version now.
    """
    comparison = _compared(session, a, b, asked)
    _emit(session, comparison)
    found = {each.verdict for each in comparison.tested}
    return ExitCode.FAILED if found & set(fatal) else ExitCode.DONE


def _compared(session: Session, a: str, b: str, asked: dict[str, Any]) -> "Comparison":
    from uwf_eval.cli.results import results_of
    from uwf_eval.compare.changes import changes_between
    from uwf_eval.compare.compare import compare as compare_trials
    from uwf_eval.compare.pairs import select

    by: Dimension | None = asked.pop("by")
    word: str | None = asked.pop("word")
    listed: int = asked.pop("trials")
    if word and not by:
        raise UsageError("--run needs --by", hint="without --by, A and B are the runs")
    options = _options(asked)
    with results_of(session) as (_, results):
        runs = [results.run(each) for each in ([word or "@last"] if by else [a, b])]
        sides = [results.trials(run.run) for run in runs]
    names = [f"{run.run} {run.name}".rstrip() for run in runs]
    if by is None:
        found = compare_trials(sides[0], sides[1], replace(options, names=(names[0], names[1])))
        return replace(found, changes=changes_between(runs[0], sides[0], runs[1], sides[1], listed))
    part_a, part_b = (select(sides[0], by, each) for each in (a, b))
    alike = tuple(each for each in DIMENSIONS if each != by)
    named = (f"{a} in {names[0]}", f"{b} in {names[0]}")
    return compare_trials(part_a, part_b, replace(options, names=named, alike=alike))


def _options(asked: dict[str, Any]) -> CompareOptions:
    metrics = tuple(dict.fromkeys(asked.pop("metrics")))
    try:
        return CompareOptions(metrics=metrics, **asked)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _emit(session: Session, comparison: "Comparison") -> None:
    from uwf_core.fields.records import read_record, write_record
    from uwf_eval.compare.records import Comparison
    from uwf_eval.compare.text import as_markdown, as_text

    if session.format == "markdown":
        session.write(as_markdown(comparison))
        return
    session.emit(
        write_record(comparison),
        lambda document, screen: as_text(read_record(Comparison, document), screen),
    )
