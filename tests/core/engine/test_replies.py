"""Nothing that an agent says can break a thread or the store."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uwf_core.client import Client
from uwf_core.testing.project import Project

WORKFLOW = """
version: 1
name: names
description: a role that names nodes
roles:
  finder:
    goal: Find it.
    frontmatter:
      oneOf:
        - properties:
            $status: {const: found}
            node: {type: string, format: ocas_ref}
            same: {type: string, format: cas_ref}
            some: {type: array, items: {type: string, format: ocas_ref}}
            either: {anyOf: [{type: string, format: ocas_ref}, {type: string}, {type: "null"}]}
            more: {type: object, additionalProperties: {type: string, format: ocas_ref}}
            free: {}
          required: [$status]
        - properties: {$status: {const: lost}, node: {type: string}}
          required: [$status]
graph:
  $START:
    new: {role: finder, prompt: Find it.}
    resume: {role: finder, prompt: Find it again.}
  finder:
    found: {role: finder, prompt: "And then: {{node}}"}
    lost: {role: $END, prompt: Lost.}
"""
INVENTED = "0123456789ABC"
TEXT_OF_THE_STORE = "a stored text"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.workflow("names", WORKFLOW)
    return project


@pytest.fixture
def uwf(project: Project) -> Iterator[Client]:
    with project.client() as client:
        yield client


def found(**fields: Any) -> dict[str, Any]:
    return {"role": "finder", "output": {"$status": "found", **fields}}


def corrections(project: Project, uwf: Client, bad: dict[str, Any]) -> list[str]:
    """What was sent back of a reply that a good one follows."""
    good = found()["output"]
    project.script([{"role": "finder", "outputs": [bad["output"], good]}])
    step = uwf.exec(uwf.start("names", "The task.")["thread"]).document["steps"][0]["step"]
    assert step is not None
    return [error for each in uwf.step(step)["corrections"] for error in each["errors"]]


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"node": INVENTED}, "node"),
        ({"node": "ZZZZZZZZZZZZZ"}, "node"),
        ({"node": "the first one"}, "node"),
        ({"same": INVENTED}, "same"),
        ({"some": [INVENTED]}, "some.0"),
        ({"either": INVENTED}, "either"),
        ({"more": {"a": INVENTED}}, "more.a"),
    ],
)
def test_an_invented_reference_is_a_correction_that_names_field_and_value(
    project: Project, uwf: Client, fields: dict[str, Any], place: str
) -> None:
    (error,) = corrections(project, uwf, found(**fields))
    value = next(iter(fields.values()))
    text = next(iter(value.values())) if isinstance(value, dict) else value
    text = text[0] if isinstance(text, list) else text
    assert error.startswith(f"{place}: ")
    assert repr(text) in error


def test_a_reference_to_a_stored_node_is_taken(project: Project, uwf: Client) -> None:
    stored = uwf._engine.store.put_text(TEXT_OF_THE_STORE)
    fields = {"node": stored, "same": stored, "some": [stored], "either": "no reference"}
    assert corrections(project, uwf, found(**fields)) == []


def test_a_form_that_is_no_schema_is_a_correction(project: Project, uwf: Client) -> None:
    """No answer could ever be checked against it."""
    form = {"properties": {"colour": {"type": "colour"}}}
    said = {"output": {"$status": "$SUSPEND", "reason": "Which?", "form": form}}
    (error,) = corrections(project, uwf, said)
    assert error.startswith("form")


_REFS = st.sampled_from([INVENTED, "ZZZZZZZZZZZZZ", "0" * 13, "STORED", "text", ""])
_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | _REFS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text() | _REFS, inner, max_size=3)
    ),
    max_leaves=6,
)
_FIELDS = ("node", "same", "some", "either", "more", "free", "reason", "form")
_OUTPUTS = st.builds(
    lambda status, fields: {"$status": status, **fields},
    st.sampled_from(["found", "lost", "$SUSPEND", "nothing"]),
    st.dictionaries(
        st.sampled_from(_FIELDS),
        _REFS | st.lists(_REFS, max_size=2) | st.dictionaries(st.text(), _REFS, max_size=2) | _ANY,
        max_size=4,
    ),
)
_CLAIMS = st.fixed_dictionaries(
    {"$status": st.just("found")},
    optional={
        "node": _REFS,
        "same": _REFS,
        "some": st.lists(_REFS, max_size=2),
        "either": _REFS,
        "more": st.dictionaries(st.text(), _REFS, max_size=2),
    },
)
_TEXTS = st.text(min_size=1).map(lambda text: f"---\n{text}\n---\n{text}")
_REPLIES = _CLAIMS | _OUTPUTS | _TEXTS


@settings(
    max_examples=20,  # all of them in one store, which each verifies
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(_REPLIES, min_size=3, max_size=3))
def test_no_reply_makes_gc_verify_or_export_fail(
    project: Project, uwf: Client, tmp_path: Path, replies: list[Any]
) -> None:
    engine = uwf._engine
    stored = engine.store.put_text(TEXT_OF_THE_STORE)
    said = [_with_stored(reply, stored) for reply in replies]
    project.script([{"role": "finder", "outputs": [{"output": each} for each in said]}])
    thread = uwf.start("names", "The task.")["thread"]
    uwf.exec(thread)
    assert uwf.verify()["problems"] == []
    uwf.collect_garbage(0)
    uwf.export_thread(thread, tmp_path / f"{thread}.tar")
    assert uwf.show(thread)["status"] in ("idle", "completed", "suspended")


def _with_stored(value: Any, stored: str) -> Any:
    if isinstance(value, dict):
        return {key: _with_stored(each, stored) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_stored(each, stored) for each in value]
    return stored if value == "STORED" else value
