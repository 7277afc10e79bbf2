"""What version 1.0 of the contract has, every later 1.x has: hooks with their arguments, records
with their fields, and no further field that must be given.
"""

import inspect
import json
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import uwf_core.api as api
from uwf_core.api import hookspecs

FILE = Path(__file__).parent / "fields-1.0.json"
KEPT = json.loads(FILE.read_text("utf-8"))


def members(record: Any) -> dict[str, bool]:
    """The fields of a record in their order, and whether each must be given."""
    if is_dataclass(record):
        return {
            each.name: each.default is MISSING and each.default_factory is MISSING
            for each in fields(record)
            if each.init
        }
    return {name: name not in record._field_defaults for name in record._fields}


def records() -> dict[str, Any]:
    """Every record that authors make or are given."""
    named = {name: getattr(api, name) for name in api.__all__}
    return {
        name: each
        for name, each in named.items()
        if isinstance(each, type) and (is_dataclass(each) or hasattr(each, "_fields"))
    }


def hooks() -> dict[str, list[str]]:
    """The hooks and their arguments."""
    found = inspect.getmembers(hookspecs, inspect.isfunction)
    return {
        name: list(inspect.signature(hook).parameters)
        for name, hook in found
        if name.startswith("uwf_")
    }


def test_no_record_and_no_hook_is_gone():
    assert set(KEPT["records"]) <= set(records())
    assert set(KEPT["hooks"]) <= set(hooks())


@pytest.mark.parametrize("name", KEPT["hooks"])
def test_a_hook_keeps_its_arguments(name):
    assert set(KEPT["hooks"][name]) <= set(hooks()[name])


@pytest.mark.parametrize("name", KEPT["records"])
def test_a_record_keeps_its_fields_in_their_order_and_demands_no_other(name):
    before, now = KEPT["records"][name], members(records()[name])
    assert [field for field in now if field in before] == list(before)
    demanded = {field for field, must in now.items() if must}
    assert demanded <= {field for field, must in before.items() if must}
