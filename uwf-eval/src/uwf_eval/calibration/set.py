"""Read a calibration set."""

from collections.abc import Iterator
from pathlib import Path

from uwf_core.definitions import Problem, YamlMapping, check_comments, read_shape
from uwf_eval.calibration.records import CalibrationFile
from uwf_eval.task.checked_file import Checked, Wrong, placed, read_checked
from uwf_eval.task.globs import glob_problem
from uwf_eval.task.tree import digest_of_file


def read_set(path: Path) -> Checked[CalibrationFile]:
    """The set in a YAML file, or every error of it."""

    def read(root: YamlMapping) -> tuple[CalibrationFile, list[Problem]]:
        found, wrong = read_shape(CalibrationFile, root, extensions=True)
        return found, [*wrong, *check_comments(root), *placed(root, _item_problems(found))]

    return read_checked(path, read, "a calibration set", "start with `items:`")


def set_digest(path: Path) -> str:
    """SHA-256 over the file of a set, in hexadecimal; "" if it is missing."""
    return digest_of_file(path) if path.is_file() else ""


def _item_problems(file: CalibrationFile) -> Iterator[Wrong]:
    """Names that come twice, files outside the folder, and labels that are all alike."""
    seen: set[str] = set()
    for index, item in enumerate(file.items):
        if item.name in seen:
            message = f"there are two items {item.name!r}"
            yield Wrong(("items", index, "name"), "duplicate-name", message, "rename one")
        seen.add(item.name)
        for name in item.files:
            if problem := glob_problem(name):
                keys = ("items", index, "files", name)
                yield Wrong(keys, "outside", f"{name!r} {problem}", "write a path within it")
    passing = sum(item.gold >= file.pass_ for item in file.items)
    if passing in (0, len(file.items)):
        word = "pass" if file.items and passing else "fail"
        message = f"all gold labels {word}" if file.items else "the set has no items"
        hint = "a judge is measured on items that pass and items that fail"
        yield Wrong(("items",), "one-sided", message, hint)
