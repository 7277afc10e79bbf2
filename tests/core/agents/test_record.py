"""Records are dataclasses in all that one can do with them, and cheaper to make."""

import dataclasses
import inspect
import pydoc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uwf_core.api import AgentRequest, Model, PromptParts, Usage
from uwf_core.api.record import record


@record
class Point:
    """What `record` makes."""

    x: int
    y: int = 0
    tags: list[str] = dataclasses.field(default_factory=list)
    key: str = dataclasses.field(default="hidden", repr=False)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plain:
    """What the standard library makes of the same fields."""

    x: int
    y: int = 0
    tags: list[str] = dataclasses.field(default_factory=list)
    key: str = dataclasses.field(default="hidden", repr=False)


@given(st.integers(), st.integers(), st.lists(st.text()))
def test_a_record_behaves_as_a_dataclass_of_the_same_fields(
    x: int, y: int, tags: list[str]
) -> None:
    point, plain = Point(x=x, y=y, tags=tags), Plain(x=x, y=y, tags=tags)
    assert dataclasses.asdict(point) == dataclasses.asdict(plain)
    assert repr(point) == repr(plain).replace("Plain", "Point")
    assert dataclasses.replace(point, y=1) == Point(x=x, y=1, tags=tags)
    assert (point == Point(x=x, y=y + 1, tags=tags)) is False
    names = [field.name for field in dataclasses.fields(Point)]
    assert names == [field.name for field in dataclasses.fields(Plain)]


def test_a_record_is_frozen_and_says_what_is_wrong_with_a_call() -> None:
    point = Point(x=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    with pytest.raises(TypeError, match=r"'z'.*missing: 'x'"):
        Point(z=1)  # type: ignore[call-arg]
    assert point.tags is not Point(x=1).tags
    assert hash(Usage(turns=1)) == hash(Usage(turns=1))


def test_a_record_inherits_fields_in_their_order() -> None:
    names = [field.name for field in dataclasses.fields(AgentRequest)]
    assert names.index("thread") < names.index("prompt")
    request = AgentRequest(thread="t", role="r", step_number=1, cwd="/", prompt="p")
    assert (request.parts, request.with_(prompt="q").prompt) == (PromptParts(), "q")


def test_a_key_is_never_in_the_text_of_a_record() -> None:
    model = Model(alias="a", name="n", provider="p", base_url="u", api_key="sk-very-secret")
    assert "sk-very-secret" not in repr(model)


def test_the_signature_is_that_of_a_dataclass():
    """What `help()` and editors show."""
    of_record, of_dataclass = (inspect.signature(each) for each in (Point, Plain))
    assert list(of_record.parameters) == list(of_dataclass.parameters)
    assert str(of_record.parameters["y"]) == "y: int = 0"
    assert of_record.parameters["x"].kind is inspect.Parameter.KEYWORD_ONLY
    assert "\n |  Point(*, x: int, y: int = 0" in pydoc.plaintext.document(Point)
