"""A question for permission is recognised by its form, and only by that."""

import pytest

from uwf_core.api import decisions_of, permission_form
from uwf_core.api.permission import ALLOWS


def test_a_form_for_permission_has_its_decisions():
    assert decisions_of(permission_form("once", "step", "never")) == ("once", "step", "never")
    assert decisions_of(permission_form(*ALLOWS)) == tuple(ALLOWS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"properties": []},
        {"properties": {"decision": True}},
        {"properties": {"decision": {"enum": []}}},
        {"properties": {"decision": {"enum": "allow"}}},
        {"properties": {"decision": {"enum": ["allow", "perhaps"]}}},
        {"properties": {"decision": {"enum": [["allow"]]}}},
        {"properties": {"decision": {"type": "string"}}},
        {"properties": {"decision": {"enum": ["allow"]}, "comment": {}}},
        {"properties": {"$status": {"const": "allow"}}},
    ],
)
def test_any_other_form_is_a_question(form):
    assert decisions_of(form) is None
