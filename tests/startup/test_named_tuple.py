"""Our named tuples do what those of `typing` do, and a class costs less."""

import copy
import pickle
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import uwf_core.named_tuple

ROOT = Path(__file__).parents[2]
Item = typing.TypeVar("Item")


def point(base, name):
    class Point(base):
        """A point."""

        x: int
        y: "int | None"
        name: str = "p"

        @property
        def total(self) -> int:
            return self.x + (self.y or 0)

        @classmethod
        def origin(cls):
            return cls(0, 0)

    Point.__qualname__ = name  # by which pickle finds it
    return Point


Theirs = point(typing.NamedTuple, "Theirs")
Ours = point(uwf_core.named_tuple.NamedTuple, "Ours")


def matched(point) -> object:
    match point:
        case Ours(x, y, "p") | Theirs(x, y, "p"):
            return x, y
        case Ours(name=name) | Theirs(name=name):
            return name


USES = {
    "by place": lambda cls: cls(1, 2, "q"),
    "by name": lambda cls: cls(y=2, x=1),
    "as text": lambda cls: repr(cls(1, None)).partition("(")[2],
    "as a tuple": lambda cls: (*cls(1, 2), cls(1, 2)[0], len(cls(1, 2))),
    "equal to a tuple": lambda cls: (cls(1, 2) == (1, 2, "p"), hash(cls(1, 2))),
    "in order": lambda cls: sorted([cls(2, 1), cls(1, 3), cls(1, 2)]),
    "replaced": lambda cls: cls(1, 2)._replace(y=3),
    "as a mapping": lambda cls: cls(1, 2)._asdict(),
    "made of a list": lambda cls: cls._make([1, 2, "q"]),
    "pickled": lambda cls: pickle.loads(pickle.dumps(cls(1, 2))),
    "copied": lambda cls: copy.deepcopy(cls(1, 2)),
    "a property": lambda cls: cls(1, 2).total,
    "a class method": lambda cls: cls.origin(),
    "matched": lambda cls: (matched(cls(1, 2)), matched(cls(1, 2, "q"))),
    "its fields": lambda cls: (cls._fields, cls._field_defaults, cls.__doc__),
    "its types": lambda cls: typing.get_type_hints(cls),
    "of generic types": lambda cls: generic(cls.__mro__)[int].__origin__._fields,
    "without fields": lambda cls: empty(cls.__mro__)(),
}
MISTAKES = {
    "one too few": lambda cls: cls(1),
    "one too many": lambda cls: cls(1, 2, 3, 4),
    "no such field": lambda cls: cls(1, 2, z=3),
    "replaced what is not there": lambda cls: cls(1, 2)._replace(z=3),
    "made of too few": lambda cls: cls._make([1]),
    "changed": lambda cls: setattr(cls(1, 2), "x", 3),
    "a new attribute": lambda cls: setattr(cls(1, 2), "z", 3),
}


def base(family):
    return typing.NamedTuple if Theirs in family else uwf_core.named_tuple.NamedTuple


def generic(family):
    class Pair(base(family), typing.Generic[Item]):
        left: Item
        right: Item

    return Pair


def empty(family):
    class Nothing(base(family)):
        pass

    return Nothing


@pytest.mark.parametrize("use", USES)
def test_they_are_used_alike(use):
    assert USES[use](Ours) == USES[use](Theirs)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_alike(mistake):
    told = []
    for cls in (Ours, Theirs):
        with pytest.raises((TypeError, ValueError, AttributeError)) as raised:
            MISTAKES[mistake](cls)
        told.append((raised.type, str(raised.value).replace(cls.__name__, "Point")))
    assert told[0] == told[1]


COUNTED = """
import sys, typing
import uwf_core.named_tuple

events = []
sys.addaudithook(lambda event, _: events.append(event))

def compiled(named_tuple):
    before = events.count("compile")
    for _ in range(20):
        class Point(named_tuple):
            x: int
            y: int
    return events.count("compile") - before

print(compiled(uwf_core.named_tuple.NamedTuple), compiled(typing.NamedTuple))
"""


def test_a_class_compiles_nothing_once_one_of_its_length_exists():
    """What makes those of `typing` slow; the times themselves depend on the machine."""
    run = subprocess.run(
        [sys.executable, "-c", COUNTED], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["1", "20"]


def test_what_commands_import_has_no_others():
    alone = {"named_tuple.py", "agent.py"}  # itself, and the demo's agent, a program of its own
    others = [
        file.name
        for folder in (
            "uwf-core/src/uwf_core",
            "uwf-eval/src/uwf_eval",
            "uwf-improve/src/uwf_improve",
            "uwf-testing/src/uwf_testing",
        )
        for file in (ROOT / folder).rglob("*.py")
        if "(NamedTuple" in (text := file.read_text(encoding="utf-8"))
        and "from uwf_core.named_tuple import" not in text
        and file.name not in alone
    ]
    assert others == []
