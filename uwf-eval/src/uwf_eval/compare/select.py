"""Parts of one run that are to be compared: the trials of one agent, model or workflow."""

from collections.abc import Sequence

from uwf_core.errors import UsageError
from uwf_eval.compare.records import Dimension
from uwf_eval.records import Cell, Trial

CONFIGURED = "configured"
"""The word for an agent or model that the configuration says."""


def select(trials: Sequence[Trial], by: Dimension, word: str) -> list[Trial]:
    """The trials whose agent, model or workflow is meant by `word`.

    A workflow is meant by its name, its reference or a prefix of that, or NAME@PREFIX.

    Raises:
        UsageError: nothing is meant, or several versions of a workflow are.
    """
    words = {_names(trial.cell, by): trial.cell for trial in trials}
    meant = {names for names, cell in words.items() if _means(word, cell, by)}
    if len(meant) == 1:
        return [trial for trial in trials if _names(trial.cell, by) in meant]
    known = ", ".join(sorted(" ".join(names) for names in meant or words)) or "nothing"
    if meant:
        raise UsageError(f"{word!r} fits several {by}s: {known}", hint="add @ and the reference")
    raise UsageError(f"the run has no {by} {word!r}", hint=f"it has: {known}")


def _names(cell: Cell, by: Dimension) -> tuple[str, ...]:
    if by == "workflow":
        return (f"{cell.workflow_name}@{cell.workflow}",)
    return (getattr(cell, by) or CONFIGURED,)


def _means(word: str, cell: Cell, by: Dimension) -> bool:
    if by != "workflow":
        return word == (getattr(cell, by) or CONFIGURED)
    name, _, prefix = word.rpartition("@")
    if name:
        return name == cell.workflow_name and cell.workflow.startswith(prefix)
    return word == cell.workflow_name or (len(word) >= 4 and cell.workflow.startswith(word))
