"""The documents that `uwf improve` prints, beside those that are a record alone."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from uwf_improve.edit.records import WorkflowEdit
from uwf_improve.gate.bar import Bar
from uwf_improve.gate.plan import SealedPlan
from uwf_improve.reflect.reflection import Reflection
from uwf_improve.sealed.records import SealedTest


class Asked(TypedDict):
    """What `reflect` adds: with --agent its `answer` and its thread; with --show-prompt the
    `prompt` alone.
    """

    answer: str
    thread: str
    prompt: str


ReflectionDocument = Annotated[Mapping[str, Any], Reflection, Asked]


class EditState(TypedDict):
    """The state of an edit, and its change of the workflow's file as a patch."""

    state: str
    patch: str


EditDocument = Annotated[Mapping[str, Any], WorkflowEdit, EditState]


class SearchClaims(TypedDict):
    """What a search with --gepa found on open tasks: the mean score `before` and `after`."""

    name: str
    set: str
    trials: int
    versions: int
    tasks: int
    before: float
    after: float


class SearchedDraft(TypedDict):
    """What `propose` adds."""

    search: SearchClaims | None


DraftDocument = Annotated[Mapping[str, Any], WorkflowEdit, EditState, SearchedDraft]


class SetRow(TypedDict):
    """A set of tasks. `sources`: of the sealed tasks, the units of a test; `nextLevel`: the alpha
    of the next test, null without one.
    """

    set: str
    sealed: int
    sources: int
    open: int
    tests: int
    left: int
    nextLevel: float | None


class SetDetails(TypedDict):
    """What `seal` and `open` add."""

    bar: Annotated[Mapping[str, Any], Bar]
    openTasks: list[str]


SetDocument = Annotated[Mapping[str, Any], SetRow, SetDetails]
SealDocument = SetDocument | SealedPlan
"""A set, or with --dry-run the plan of its tests."""


class ListedSet(SetRow):
    """`problem`: why the tests of the set cannot be trusted."""

    problem: str | None


class EditRow(TypedDict):
    """An edit in a list."""

    edit: str
    workflow: str
    state: str
    author: str
    places: list[str]
    draftedAtMs: int


class EditsDocument(TypedDict):
    """The edits with their states, and the sets."""

    edits: list[EditRow]
    sets: list[ListedSet]


class TriedDocument(TypedDict):
    """Trials of both sides of an edit for the search; `screening`: on recorded steps."""

    edit: str
    run: str
    trials: int
    states: dict[str, int]
    set: str | None
    screening: bool
    hint: str


class VerdictDocument(TypedDict):
    """The verdict of a sealed test; null while its trials are not complete."""

    edit: str
    set: str
    verdict: str | None
    test: Annotated[Mapping[str, Any], SealedTest] | None
    hint: str


class ReportDocument(TypedDict):
    """The report of an edit; `gain` and `low` only of an accepted one. `written`: the files that
    --apply wrote.
    """

    edit: str
    state: str | None
    gain: float | None
    low: float | None
    patch: str
    report: str
    written: NotRequired[list[str]]
