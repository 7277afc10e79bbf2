"""Pages: many finished trials in one node, so that a report does not read thousands of nodes.

A page is a copy of the trials' nodes with their references, which are hashes of the content. A copy
is ignored if the trial's name now refers to another node. The payloads are JSON text, which Python
parses twenty times as fast as the codec of nodes.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from uwf_core.fields.records import write_record
from uwf_eval.records import Trial

SIZE: Final = 256
"""Trials on a page."""

TEXT: Final = {"type": "string"}


def schema(title: str, **properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a closed object with required properties."""
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
    """The page of the trial with this number."""
    return (number - 1) // SIZE


def page_of(run: str, trials: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """The payload of a page with these references and payloads."""
    return {
        "run": run,
        "refs": [ref for ref, _ in trials],
        "trials": json.dumps([payload for _, payload in trials], separators=(",", ":")),
    }


def entries(page: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The reference and the payload of each trial on a page."""
    return zip(page["refs"], json.loads(page["trials"]), strict=True)


def to_text(trials: Sequence[Trial]) -> str:
    """Serialize trials as JSON."""
    return json.dumps(write_record(list(trials)), separators=(",", ":"))


def from_text(text: str) -> Sequence[Mapping[str, Any]]:
    """Parse the text of `to_text` into payloads."""
    found: Sequence[Mapping[str, Any]] = json.loads(text)
    return found
