"""What a stored output means does not depend on the version of a library: the official test suite
of JSON Schema (draft 2020-12, formats included) is the referee, and any difference is a failure.

The source distribution of jsonschema brings the suite; `UWF_JSON_SCHEMA_SUITE` names its folder.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from uwf_agent_builtin.schemas import problems
from uwf_core.cas.schemas import CompiledSchema, first_problem, schema_problems, violations
from uwf_core.cas.simple_check import fits

SUITE = os.environ.get("UWF_JSON_SCHEMA_SUITE")
pytestmark = pytest.mark.skipif(
    SUITE is None, reason="UWF_JSON_SCHEMA_SUITE is not set; `python3 dev.py tests` sets it"
)


class Case(NamedTuple):
    """A schema of the suite and the values that it accepts or not."""

    name: str
    schema: Any
    values: list[dict[str, Any]]
    formats: bool


def cases() -> Iterator[Case]:
    """Those of the draft, without `$schema`, which no type may have."""
    folder = Path(SUITE or "", "tests", "draft2020-12")
    for file in sorted(folder.rglob("*.json")):
        for number, case in enumerate(json.loads(file.read_text("utf-8"))):
            schema = case["schema"]
            if isinstance(schema, dict):
                schema = {word: value for word, value in schema.items() if word != "$schema"}
            formats = file.parent.name == "format"
            yield Case(f"{file.relative_to(folder)} {number}", schema, case["tests"], formats)


def test_every_verdict_is_that_of_the_official_suite() -> None:
    tried, wrong = 0, []
    for case in cases():
        if first_problem(case.schema) is not None:
            continue
        compiled = CompiledSchema(case.schema, formats=case.formats)
        for number, value in enumerate(case.values):
            data, valid = value["data"], value["valid"]
            verdicts = {
                "accepts": compiled.accepts(data),
                "listed": not compiled.violations_of_plain(data),
            }
            if case.formats:
                verdicts["output"] = not violations(case.schema, data, decoded=True)
            else:
                verdicts["builtin agent"] = not problems(case.schema, data)
                if fits(case.schema, data):
                    verdicts["quick"] = True
            tried += 1
            wrong += [f"{case.name}.{number}: {way}" for way, is_valid in verdicts.items()
                      if is_valid != valid]  # fmt: skip
    assert wrong == []
    assert tried > 1_200


def test_a_schema_of_the_suite_that_cannot_be_a_type_is_rejected_with_a_reason() -> None:
    """Never accepted with another meaning: `$ref`, `unevaluatedProperties` and so on."""
    rejected = [case for case in cases() if first_problem(case.schema) is not None]
    assert all(schema_problems(case.schema)[0].message for case in rejected)
    assert len(rejected) > 200
