"""What commands print is what the page of documents says, so that no test of its own repeats the
keys.
"""

import json
import sys
from pathlib import Path

import click
from jsonschema import Draft202012Validator

CHECKED = ("eval", "improve", "distill", "plugin new", "setup", "web", "worker start")
sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))


def checking(emit):
    """A method of the command line's session that prints a document, and compares it before."""

    def checked(session, document, text):
        context = click.get_current_context(silent=True)
        path = "" if context is None else context.command_path.removeprefix("uwf ")
        path = path.replace("uwf-eval", "eval")
        if f"{path} ".startswith(tuple(f"{each} " for each in CHECKED)):
            check(path.replace(" ", "."), json.loads(json.dumps(document)))
        emit(session, document, text)

    return checked


def check(path, document):
    """Compare a document with the schema of its operation, which has all of its keys."""
    from generate.documents import schemas

    Draft202012Validator(closed(schemas()[path])).validate(document)


def closed(schema):
    """A schema whose objects have the keys that it names and no others."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(each) for key, each in schema.items()}
    is_object = isinstance(schema.get("properties"), dict) and schema.get("type") == "object"
    return {**made, "additionalProperties": False} if is_object else made
