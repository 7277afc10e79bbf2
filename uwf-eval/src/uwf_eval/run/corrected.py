"""A run that is resumed uses its own copies of its tasks; a corrected task can replace one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from uwf_core.client import Client
from uwf_core.errors import UsageError
from uwf_eval.calibration.weigh import check_weights, run_judges
from uwf_eval.records import Run, RunTask, Trial
from uwf_eval.run.folder import RunFolder
from uwf_eval.run.prepare import run_task
from uwf_eval.run.run_loop import LEFT
from uwf_eval.task.load import NOT_COPIED, find_task, take_task, task_top
from uwf_eval.task.model import Task, fixture_digest
from uwf_eval.task.read import Origin, read_task
from uwf_eval.task.tree import TreeError, digest_of_tree, remove_tree


def replace_tasks(
    client: Client, run: Run, trials: Sequence[Trial], folder: RunFolder, words: Sequence[str]
) -> tuple[Run, list[Trial]]:
    """Replace the run's copies of tasks by corrected ones; return the run and its trials with them.
    Trials with a verdict keep it, and the digest of the task that gave it.

    Raises:
        UsageError: one is an unknown task, or differs in more than its judges.
        UwfError: one is not valid, or cannot be copied.
    """
    names = [each.name for each in run.tasks]
    for word in words:
        scratch = folder.path / "corrected"
        remove_tree(scratch)
        task = take_task(find_task(word, client, Path.cwd()), scratch, client).require()
        if task.name not in names:
            raise UsageError(
                f"the run has no task {task.name!r}", where=word,
                hint=f"its tasks: {', '.join(names)}",
            )  # fmt: skip
        index = names.index(task.name)
        _check_same(_copy(run.tasks[index], folder.task(index)), task, word)
        judges = run_judges(client, task)
        check_weights(task, judges)
        run = replace(
            run, tasks=[*run.tasks[:index], run_task(task, judges), *run.tasks[index + 1 :]]
        )
        remove_tree(folder.task(index))
        scratch.rename(folder.task(index))
        trials = [
            replace(each, judges=(), task_digest=task.digest)
            if each.cell.task == task.name and each.state in LEFT
            else each
            for each in trials
        ]
    return run, list(trials)


def _copy(known: RunTask, folder: Path) -> Task:
    top = task_top(folder, known.place)
    return read_task(Origin(top, "folder", known.place, known.digest)).require()


def _check_same(old: Task, new: Task, word: str) -> None:
    """Check that agents get the same from both: only then can their trials be compared."""
    for name in ("cases", "workflow", "agent", "env", "limits", "protect", "setup",
                 "command_timeout"):  # fmt: skip
        if getattr(old, name) != getattr(new, name):
            raise _different(name, word)
    for case in old.cases:
        if fixture_digest(old, case) != fixture_digest(new, case):
            raise _different(f"the fixture of case {case.name!r}" if case.name else "fixture", word)


def _different(what: str, word: str) -> UsageError:
    return UsageError(
        f"the corrected task differs in {what}; only its judges and files for them may change",
        where=word,
        hint="start a new run with `uwf eval run`",
    )


def resume_notes(run: Run, trials: Sequence[Trial], folder: RunFolder) -> list[str]:
    """What a resumed run does, for the user."""
    judged = sum(bool(each.kept and each.thread) for each in trials if each.state in LEFT)
    notes = [f"{judged} trials only lack judges: no agent runs for them"] if judged else []
    return [*notes, *_copies(run, folder)]


def _copies(run: Run, folder: RunFolder) -> Iterator[str]:
    for index, task in enumerate(run.tasks):
        words = f"task {task.name}: the run uses its own copy, {folder.task(index)}"
        if task.source == "folder" and _changed(task):
            words += f"; {task.place} was changed since then, and --task {task.place} uses it"
        yield words


def _changed(task: RunTask) -> bool:
    try:
        return digest_of_tree(Path(task.place), without=NOT_COPIED) != task.digest
    except (OSError, TreeError):
        return False
