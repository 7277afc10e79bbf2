"""Read a calibration set."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from uwf_core.definitions import (
    Problem,
    YamlMapping,
    as_definition_error,
    check_comments,
    error_at,
    load_file,
    place_at,
    read_shape,
)
from uwf_core.errors import DefinitionError
from uwf_eval.calibration.records import CalibrationFile
from uwf_eval.task.globs import glob_problem
from uwf_eval.task.tree import digest_of_file


class CheckedSet(NamedTuple):
    """A set and the problems of its file."""

    file: CalibrationFile | None
    problems: tuple[Problem, ...]

    def require(self) -> CalibrationFile:
        """The set.

        Raises:
            DefinitionError: it has errors.
        """
        if self.file is None:
            raise as_definition_error(self.problems)
        return self.file


def read_set(path: Path) -> CheckedSet:
    """The set in a YAML file, or every error of it."""
    try:
        loaded = load_file(str(path))
    except DefinitionError as error:
        return CheckedSet(None, tuple(Problem(**each) for each in error.problems))
    problems = list(loaded.problems)
    found = None
    if isinstance(loaded.node, YamlMapping):
        found, wrong = read_shape(CalibrationFile, loaded.node, extensions=True)
        problems += [*wrong, *check_comments(loaded.node), *_item_problems(found, loaded.node)]
    elif loaded.node is not None and not problems:
        message = "a calibration set must be a mapping"
        problems.append(error_at(loaded.node.place, "wrong-type", message, "start with `items:`"))
    faulty = any(each.severity == "error" for each in problems)
    return CheckedSet(None if faulty else found, tuple(problems))


def set_digest(path: Path) -> str:
    """SHA-256 over the file of a set, in hexadecimal; "" if it is missing."""
    return digest_of_file(path) if path.is_file() else ""


def _item_problems(file: CalibrationFile, root: YamlMapping) -> Iterator[Problem]:
    """Names that come twice, files outside the folder, and labels that are all alike."""
    seen: set[str] = set()
    for index, item in enumerate(file.items):
        if item.name in seen:
            place = place_at(root, ("items", index, "name"))
            message = f"there are two items {item.name!r}"
            yield error_at(place, "duplicate-name", message, "rename one")
        seen.add(item.name)
        for name in item.files:
            if problem := glob_problem(name):
                place = place_at(root, ("items", index, "files", name))
                yield error_at(place, "outside", f"{name!r} {problem}", "write a path within it")
    passing = sum(item.gold >= file.pass_ for item in file.items)
    if passing in (0, len(file.items)):
        word = "pass" if file.items and passing else "fail"
        message = f"all gold labels {word}" if file.items else "the set has no items"
        yield error_at(place_at(root, ("items",)), "one-sided", message,
                       "a judge is measured on items that pass and items that fail")  # fmt: skip
