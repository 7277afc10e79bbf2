"""Read a YAML file with all its problems."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from uwf_core.definitions import (
    Place,
    Problem,
    YamlMapping,
    as_definition_error,
    error_at,
    load_file,
    place_at,
)
from uwf_core.errors import DefinitionError

Value = TypeVar("Value")


class Wrong(NamedTuple):
    """An error in the value at `keys`."""

    keys: tuple[str | int, ...]
    code: str
    message: str
    hint: str = ""


def placed(root: YamlMapping, found: Iterable[Problem | Wrong]) -> Iterator[Problem]:
    """The errors with their places in the file; those of other files have theirs."""
    for each in found:
        yield each if isinstance(each, Problem) else error_at(place_at(root, each[0]), *each[1:])


class Checked(NamedTuple, Generic[Value]):
    """What a file means (None if there is an error), and its problems."""

    value: Value | None
    problems: tuple[Problem, ...]

    def require(self) -> Value:
        """What the file means.

        Raises:
            DefinitionError: it has errors; `problems` lists all of them.
        """
        if self.value is None:
            raise as_definition_error(self.problems)
        return self.value


def read_checked(
    file: Path, read: Callable[[YamlMapping], tuple[Value, Iterable[Problem]]], noun: str, hint: str
) -> Checked[Value]:
    """Read the mapping of a file; `read` gives its value and what is wrong with it."""
    try:
        loaded = load_file(str(file))
    except DefinitionError as error:
        return Checked(None, tuple(Problem(**each) for each in error.problems))
    problems, root, value = list(loaded.problems), loaded.node, None
    if isinstance(root, YamlMapping):
        value, wrong = read(root)
        problems += wrong
    elif not problems:
        place = Place(str(file), 1, 1) if root is None else root.place
        what = "the file is empty" if root is None else f"{noun} must be a mapping"
        problems.append(error_at(place, "wrong-type", what, hint))
    problems.sort(key=lambda each: each.place)
    faulty = any(each.severity == "error" for each in problems)
    return Checked(None if faulty else value, tuple(problems))
