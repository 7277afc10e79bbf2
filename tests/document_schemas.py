"""What the commands of a group print is what the page of documents says.

`checked` is a fixture that every test of a group uses: each document that a command prints has its
generated schema, so that no test of its own repeats the keys.
"""

import json
import sys
from pathlib import Path

import click
import pytest
from jsonschema import Draft202012Validator

from uwf_core.cli.session import Session

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))

from generate.documents import schemas


@pytest.fixture(autouse=True)
def checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare what is printed with its schema."""
    for name in ("emit", "emit_line"):
        monkeypatch.setattr(Session, name, _checking(getattr(Session, name)))


def _checking(emit):
    def checking(session, document, text):
        words = click.get_current_context().command_path.split()
        path = ".".join(words).removeprefix("uwf.").replace("uwf-eval", "eval")
        whole = schemas().get(path)
        if whole is not None:
            found = json.loads(json.dumps(document))
            Draft202012Validator(whole).validate(found)
            unknown = found.keys() - _keys(whole)
            assert not unknown, f"the schema of {path} lacks {unknown}"
        emit(session, document, text)

    return checking


def _keys(schema):
    return set().union(*(each["properties"] for each in schema.get("anyOf", [schema])))
