"""A typed class is a shape: the reader, the JSON Schema and the way back follow from it."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import pytest
from jsonschema import Draft202012Validator

from uwf_core.fields.kinds import RecordOf
from uwf_core.fields.mismatch import (
    ABSENT,
    MAX_MISMATCHES,
    NOT_BLANK,
    SPAN,
    Reading,
    To,
    above,
    between,
    nearest,
    suggestion,
)
from uwf_core.fields.records import shape_of, write_record


class Limits(NamedTuple):
    """A shape as a named tuple."""

    max_steps: Annotated[int | None, "The most steps.", above(0)] = None
    share: Annotated[float, between(0, 1)] = 1.0


@dataclass(frozen=True, kw_only=True)
class Job:
    """A shape as a record."""

    name: Annotated[str, "What people call it.", NOT_BLANK]
    limits: Limits = Limits()
    mode: Literal["fast", "safe"] = "safe"
    tags: tuple[Annotated[str, NOT_BLANK], ...] = ()
    extra: dict[str, Any] | None = None


class Payload(TypedDict):
    """A shape as a typed dictionary."""

    prompt: Annotated[str, To("string")]
    count: int | None


def read(cls: Any, value: Any, **how: bool) -> tuple[Any, list[tuple[str, str]]]:
    reading = Reading(**how)
    found = shape_of(cls).read(value, (), reading)
    return found, [(".".join(map(str, each.path)), each.code) for each in reading.mismatches]


WHOLE = {
    "name": "a",
    "limits": {"maxSteps": 3, "share": 1},
    "mode": "fast",
    "tags": ["x"],
    "extra": {"any": [1]},
}


def test_a_mapping_becomes_the_object_of_its_class_and_back() -> None:
    job = Job(name="a", limits=Limits(3, 1.0), mode="fast", tags=("x",), extra={"any": [1]})
    assert read(Job, WHOLE) == (job, [])
    assert write_record(job) == WHOLE
    assert shape_of(Job).build(WHOLE) == job  # type: ignore[misc]


def test_every_fault_is_found_in_one_read() -> None:
    bad = {
        "nmae": "a",
        "limits": {"maxSteps": 0, "share": 2},
        "mode": "fsat",
        "tags": ["", 5],
        "extra": [],
    }
    assert read(Job, bad)[1] == [
        ("nmae", "unknown-key"),
        ("limits.maxSteps", "bad-value"),
        ("limits.share", "bad-value"),
        ("mode", "wrong-type"),
        ("tags.0", "blank-text"),
        ("tags.1", "wrong-type"),
        ("extra", "wrong-type"),
    ]


def test_what_can_be_read_of_a_faulty_mapping_is_given() -> None:
    """The checks that follow report their errors in the same run."""
    job, faults = read(Job, {"mode": "fast", "limits": {"maxSteps": "x"}})
    assert [code for _, code in faults] == ["missing-key", "wrong-type"]
    assert job == Job(name="", mode="fast")


def test_null_stands_for_a_default_only_where_the_reader_says_so() -> None:
    assert read(Job, {"name": "a", "mode": None}, null_unset=True) == (Job(name="a"), [])
    assert read(Job, {"name": "a", "mode": None})[1] == [("mode", "wrong-type")]
    assert read(Job, {"name": None}, null_unset=True)[1] == [("name", "wrong-type")]


def test_an_open_reader_passes_over_unknown_keys() -> None:
    assert read(Job, {"name": "a", "new": 1}, closed=False) == (Job(name="a"), [])


def test_faults_are_bounded() -> None:
    found, faults = read(Job, {"name": "a", "tags": [1] * 10 * MAX_MISMATCHES})
    assert (found.tags, len(faults)) == ((), MAX_MISMATCHES)


def test_a_type_that_json_cannot_say_is_the_error_of_the_class() -> None:
    with pytest.raises(TypeError, match="cannot be said in JSON"):
        read(complex, 1)


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize(
    "value",
    [
        WHOLE,
        {"name": "a"},
        {"name": 5},
        {},
        {**WHOLE, "mode": "x"},
        {**WHOLE, "more": 1},
        {**WHOLE, "tags": [1]},
        {**WHOLE, "limits": {"maxSteps": 3.5, "share": 1}},
        {**WHOLE, "limits": {"maxSteps": 0, "share": 1}},
        {**WHOLE, "extra": None},
    ],
    ids=str,
)
def test_the_schema_takes_what_the_reader_takes(value: Any, stored: bool) -> None:
    """That of a stored payload knows types alone, and all keys are there."""
    schema = shape_of(Job).schema(stored=stored)
    Draft202012Validator.check_schema(schema)
    _, faults = read(Job, value)
    types = [each for each in faults if each[1] not in ("bad-value", "blank-text")]
    wanted = not types and value.keys() >= WHOLE.keys() if stored else not faults
    assert Draft202012Validator(schema).is_valid(value) is wanted


def test_a_reference_is_one_only_in_the_store() -> None:
    reference = {"type": "string", "format": "ocas_ref"}
    assert shape_of(Payload).schema(stored=True)["properties"] == {
        "prompt": reference,
        "count": {"type": ["integer", "null"]},
    }
    assert read(Payload, {"prompt": "7VQ43ZSJTEWA7", "count": None})[1] == []


def test_the_page_of_a_shape_has_each_key_with_its_description() -> None:
    shape = shape_of(Job)
    assert isinstance(shape, RecordOf)
    name = shape.fields["name"]
    assert (name.required, name.about, name.shape.wanted) == (True, "What people call it.", "text")
    assert shape.fields["mode"].default == "safe"
    assert name.default is ABSENT


def test_a_suggestion_costs_the_same_for_any_word() -> None:
    names = [f"name{number}" for number in range(100_000)]
    assert suggestion("naem1" + "x" * 1_000_000, names).startswith("known: name0, name1,")
    assert nearest("max_steps", ["maxSteps"]) == "maxSteps"
    assert suggestion("maxStpes", ["maxSteps"]) == "did you mean 'maxSteps'?"
    assert suggestion("x", []) == ""


class Pause(NamedTuple):
    """A shape with a duration."""

    lasts: Annotated[float | None, "How long.", SPAN, above(0)] = None


@pytest.mark.parametrize(
    ("written", "seconds"),
    [(90, 90.0), (0.5, 0.5), ("30s", 30.0), ("10m", 600.0), ("4h", 14_400.0), ("2d", 172_800.0)],
)
def test_a_duration_is_a_number_of_seconds_or_a_text_with_a_unit(written, seconds):
    assert read(Pause, {"lasts": written}) == (Pause(seconds), [])
    Draft202012Validator(shape_of(Pause).schema()).validate({"lasts": written})


@pytest.mark.parametrize(
    "written", ["90", "1.5h", "10 m", "m", "-3s", "٣s", "1h30m", True, "9999999s"]
)
def test_a_duration_is_nothing_else(written):
    assert read(Pause, {"lasts": written})[1] == [("lasts", "wrong-type")]
    assert not Draft202012Validator(shape_of(Pause).schema()).is_valid({"lasts": written})


def test_a_duration_obeys_the_rules_of_its_seconds():
    assert read(Pause, {"lasts": "0s"})[1] == [("lasts", "bad-value")]
