"""The schema for editors that is shipped is written from the model."""

import json
from pathlib import Path

from uwf_core.workflow.starter import json_schema, schema_path, schema_text


def test_the_shipped_schema_is_that_of_the_model() -> None:
    """After a change of the model: write `schema_text()` into the file."""
    text = Path(schema_path()).read_text("utf-8")
    assert text == schema_text()
    assert json.loads(text) == json_schema()
