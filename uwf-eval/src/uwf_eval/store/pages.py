"""Pages: many ended trials in one node, so that a report does not read thousands of nodes.

A page only repeats what the trials' own nodes say. It names each by its reference, which is a hash
of the content: what it holds of a node that a trial's name does not mean any more is passed over.
The payloads are JSON text, which Python reads twenty times as fast as anything else.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from uwf_core.api.fields import write_record
from uwf_eval.records import Trial

SIZE: Final = 256
"""Trials on a page."""

TEXT: Final = {"type": "string"}


def schema(title: str, **properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a closed object in which all is required."""
    return {
        "title": title,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SCHEMA: Final = schema(
    "uwf eval page", run=TEXT, refs={"type": "array", "items": TEXT}, trials=TEXT
)


def block_of(number: int) -> int:
    """Which page the trial of this number is on."""
    return (number - 1) // SIZE


def page_of(run: str, trials: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """The page of these trials: reference and payload of each."""
    return {
        "run": run,
        "refs": [ref for ref, _ in trials],
        "trials": json.dumps([payload for _, payload in trials], separators=(",", ":")),
    }


def entries(page: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Reference and payload of each trial on a page."""
    return zip(page["refs"], json.loads(page["trials"]), strict=True)


def to_text(trials: Sequence[Trial]) -> str:
    """Trials as JSON text."""
    return json.dumps(write_record(list(trials)), separators=(",", ":"))


def from_text(text: str) -> Sequence[Mapping[str, Any]]:
    """The payloads in such a text."""
    found: Sequence[Mapping[str, Any]] = json.loads(text)
    return found
