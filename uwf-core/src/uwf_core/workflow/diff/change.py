"""One change between two versions of a workflow, and whom it breaks."""

from typing import Any, Final, Literal, NamedTuple

KINDS: Final = (
    "name-changed",
    "description-changed",
    "limit-changed",
    "input-changed",
    "role-added",
    "role-removed",
    "role-renamed",
    "text-changed",
    "player-changed",
    "tools-changed",
    "timeout-changed",
    "reserve-changed",
    "status-added",
    "status-removed",
    "field-added",
    "field-removed",
    "field-retyped",
    "field-required",
    "field-optional",
    "field-described",
    "schema-changed",
    "edge-retargeted",
    "prompt-changed",
    "location-changed",
    "branches-added",
    "branches-removed",
    "branches-changed",
    "workspace-changed",
)
"""Every kind of change. The guide on workflows has a row for each, a test an example."""

Verdict = Literal["compatible", "breaking"]


class WorkflowChange(NamedTuple):
    """A change.

    Attributes:
        kind: one of `KINDS`.
        place: the place in the file, such as `roles.writer.goal`; a field has its status before it.
        a: what the old version has there, None if nothing.
        b: what the new version has there.
        forks: why it breaks forks onto the new version: threads that ran on the old one and
            continue on the new one. None if it does not.
        callers: why it breaks workflows that use the result of this one. None if it does not.
    """

    kind: str
    place: str
    a: Any
    b: Any
    forks: str | None = None
    callers: str | None = None
