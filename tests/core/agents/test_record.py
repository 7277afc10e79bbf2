"""The records of the contract."""

import dataclasses

import pytest

from uwf_core import api
from uwf_core.api import AgentRequest, Model, PromptParts, Usage


def test_every_record_of_the_contract_is_frozen_and_takes_names_alone():
    found = [getattr(api, name) for name in api.__all__]
    records = [each for each in found if isinstance(each, type) and dataclasses.is_dataclass(each)]
    assert AgentRequest in records
    assert [each for each in records if not each.__dataclass_params__.frozen] == []
    assert [key for each in records for key in dataclasses.fields(each) if not key.kw_only] == []


def test_a_record_is_frozen_and_says_what_is_wrong_with_a_call() -> None:
    usage = Usage(turns=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        usage.turns = 2  # type: ignore[misc]
    with pytest.raises(TypeError, match="'turn'"):
        Usage(turn=1)  # type: ignore[call-arg]
    assert hash(Usage(turns=1)) == hash(Usage(turns=1))


def test_a_record_inherits_fields_in_their_order() -> None:
    names = [field.name for field in dataclasses.fields(AgentRequest)]
    assert names.index("thread") < names.index("prompt")
    request = AgentRequest(thread="t", role="r", step_number=1, cwd="/", prompt="p")
    assert (request.parts, request.with_(prompt="q").prompt) == (PromptParts(), "q")


def test_a_key_is_never_in_the_text_of_a_record() -> None:
    model = Model(alias="a", name="n", provider="p", base_url="u", api_key="sk-very-secret")
    assert "sk-very-secret" not in repr(model)
