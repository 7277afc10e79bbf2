"""The files of a trial whose judges could not judge: they wait in the folder of the run, so that
`resume` judges them and pays no agent again.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from uwf_eval.records import JudgeResult, Trial
from uwf_eval.task.tree import Entry, TreeError, digest_of_tree, make_private, remove_tree, walk
from uwf_eval.trial.folders import TrialFolders
from uwf_eval.trial.verdict import Verdict


def kept_folder(folder: Path, number: int) -> Path:
    """Where the files of a trial wait.

    Args:
        folder: for the private folders of the run. number: of the trial.
    """
    return folder.parent / "kept" / str(number)


def is_kept(folder: Path, planned: Trial, notice: Callable[[str], None]) -> bool:
    """Whether a trial only lacks judges: its thread and its files are there, as they were."""
    if not (planned.kept and planned.thread):
        return False
    try:
        found = digest_of_tree(folder)
    except (OSError, TreeError) as error:
        notice(
            f"cannot read the kept files of trial {planned.number}, its agents run again: {error}"
        )
        return False
    if found != planned.kept:
        notice(f"the kept files of trial {planned.number} were changed: its agents run again")
    return found == planned.kept


def keep(folder: Path, space: TrialFolders, seen: Sequence[Entry] | None) -> str:
    """Keep the judges' copy of a trial's files; return its digest.

    Args:
        folder: where. space: of the trial. seen: the copy before a judge ran; None: none has seen
            it.

    Raises:
        TreeError, OSError: it cannot be kept, or a judge changed it.
    """
    if seen is not None and seen != list(walk(space.judged)):
        raise TreeError("they were changed during judging")
    digest = digest_of_tree(space.judged)
    make_private(folder.parent)
    remove_tree(folder)
    space.judged.rename(folder)
    return digest


def with_kept_paths(
    results: Sequence[JudgeResult], ended: Verdict, space: TrialFolders, folder: Path
) -> tuple[Sequence[JudgeResult], Verdict]:
    """The errors of judges with the paths of the kept files, in place of copies that are deleted
    with the trial.
    """
    copies = re.compile(rf"{re.escape(str(space.judges))}/judge-\d+/trial")

    def moved(text: str) -> str:
        return copies.sub(lambda _: str(folder), text)

    told = tuple(replace(each, error=each.error and moved(each.error)) for each in results)
    if ended.failure is None:
        return told, ended
    return told, ended._replace(
        failure=replace(ended.failure, message=moved(ended.failure.message))
    )
