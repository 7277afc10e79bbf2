"""The form of a pending question as text: what to write after `--answer`."""

from collections.abc import Mapping
from typing import Any

from uwf_core.errors import DefinitionError
from uwf_core.prompt.deliverable import field_notes
from uwf_core.workflow.variants import STATUS, variants


def form_text(form: Mapping[str, Any]) -> str:
    """One paragraph per way to answer, with its fields; a form without fields as JSON."""
    try:
        ways = [
            "\n".join([f"{STATUS}={each.status}", *field_notes(each.properties, each.required)])
            for each in variants(form)
        ]
    except DefinitionError:  # a form that an agent made need not have statuses
        ways = ["\n".join(field_notes(form.get("properties", {}), form.get("required", ())))]
    return "\n".join(ways) or _json(form)


def _json(form: Mapping[str, Any]) -> str:
    import json

    return json.dumps(form, ensure_ascii=False)
