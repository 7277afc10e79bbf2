"""A starter workflow file: it passes the check and has comments for changes."""

import errno
import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from uwf_core.errors import UsageError
from uwf_core.fields.kinds import SET_BY_UWF
from uwf_core.fields.records import shape_of
from uwf_core.process.path_walk import read_regular
from uwf_core.workflow.definition import NAME_PATTERN, VERSION, JoinEdge, Workflow
from uwf_core.workflow.discover import NAME, NAME_HINT

_LETTER = r"[A-Za-z0-9_]|[^\x00-\x7f\s]"
_NAMED = rf"^(?:{_LETTER})(?:{_LETTER}|[.-])*$"
"""For editors, which need not know Unicode's letters."""

SCHEMA_FILE = "schema.json"
"""The JSON Schema of the file format, next to this module; `json_schema` gives the same."""

_TEXT = """\
version: 1
name: {name}
description: One writes, another one reviews it, until both are satisfied.

roles:
  writer:
    description: Does the work.
    goal: Deliver what the task asks for.
    capabilities: [writing]
    procedure: |
      1. Read the task, and the comments if there are any.
      2. Do the work in the current folder.
      3. Read your own result once more before you deliver it.
    output: A summary of what you did, and where it is.
    frontmatter:
      type: object
      oneOf:
        - properties:
            $status: {{const: done}}
            summary: {{type: string, description: "What was done, in one or two sentences."}}
          required: [$status, summary]
        - properties:
            $status: {{const: unclear}}
            question: {{type: string, description: What you need to know from a person.}}
          required: [$status, question]

  reviewer:
    description: Reviews the work of the writer.
    goal: Find out whether the result does what the task asks for.
    capabilities: [reviewing]
    procedure: |
      Look at the result itself, not only at the summary. Reject what you would not approve.
    output: What you looked at, and what you found.
    frontmatter:
      type: object
      oneOf:
        - properties:
            $status: {{const: approved}}
          required: [$status]
        - properties:
            $status: {{const: rejected}}
            comments: {{type: string, description: "What must change, point by point."}}
          required: [$status, comments]

# The edge of each status of each role. {{{{{{field}}}}}} is a field of the role's output,
# {{{{{{_body}}}}}} the text that it wrote after them.
graph:
  $START:
    new: {{role: writer, prompt: "Begin with the task."}}
    resume: {{role: writer, prompt: "There is a further request; keep the earlier result."}}
  writer:
    done: {{role: reviewer, prompt: "Review this: {{{{{{summary}}}}}}"}}
    unclear: {{role: $SUSPEND, prompt: "{{{{{{question}}}}}}"}}
  reviewer:
    approved: {{role: $END, prompt: "Approved."}}
    rejected: {{role: writer, prompt: "The reviewer asks for changes: {{{{{{comments}}}}}}"}}

limits:
  maxSteps: 20
"""


def starter(name: str) -> str:
    """The text of a workflow called `name`, for the file `<name>.yaml`.

    Raises:
        UsageError: `name` is not a valid workflow name.
    """
    return _TEXT.format(name=name_text(name))


def schema_path() -> str:
    """The path of the format's JSON Schema in this installation."""
    return str(files("uwf_core.workflow") / SCHEMA_FILE)


def name_text(name: str) -> str:
    """A workflow's name as YAML: in quotes where it would be read as a number or a truth value.

    Raises:
        UsageError: `name` is not a valid workflow name.
    """
    from uwf_core.yaml.nodes import plain_value

    if not NAME.match(name):
        raise UsageError(
            f"{name!r} is not a valid workflow name",
            hint=NAME_HINT,
        )
    return name if isinstance(plain_value(name), str) else f'"{name}"'


_ROLE = (
    "A role. An agent plays it (`goal`, `frontmatter`), a person (`human: true`, `goal`, "
    "`frontmatter`), a program (`program`, `frontmatter`) or a workflow (`workflow`)."
)

_EDGE = (
    "An edge leads to a role (`role`, `prompt`), or to branches that run in parallel: one for each "
    "item of a list (`forEach`, `role`, `prompt`, `then`), or several by name (`parallel`, `then`)."
)


_FIRST = "The first role, with its prompt."


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the file format, for editors; shipped as `SCHEMA_FILE`."""
    from uwf_core.workflow.structure import edges_schema, kinds_schema

    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A uwf workflow",
        **shape_of(Workflow).schema(),
        "patternProperties": {"^x-": {"description": "Anything; a place for YAML anchors."}},
    }
    properties = schema["properties"]
    properties["version"]["const"] = VERSION
    properties["name"]["pattern"] = NAME_PATTERN
    properties["roles"] |= {"propertyNames": {"pattern": _NAMED}, "minProperties": 1}
    role = properties["roles"]["additionalProperties"]
    role |= {"description": _ROLE, **kinds_schema()}
    edge = properties["graph"]["additionalProperties"]["additionalProperties"]
    edge |= {"description": _EDGE, **edges_schema()}
    branch = edge["properties"]["parallel"]["anyOf"][0]["additionalProperties"]
    for each in (schema, role, edge, branch):
        for key, value in [*each["properties"].items()]:
            if value.get("description", "").startswith(SET_BY_UWF):
                del each["properties"][key]
    joined = edge["properties"]["then"]["anyOf"][0]
    joined["required"] = ["$mixed"]
    edge["properties"]["parallel"]["anyOf"][0] |= {
        "propertyNames": {"pattern": _NAMED, "not": {"const": "results"}},
        "minProperties": 1,
    }
    first = {**shape_of(JoinEdge).schema(), "description": _FIRST}
    start = {
        "type": "object",
        "description": "The first role of a thread, and of a reopened one.",
        "properties": {"new": first, "resume": first},
        "required": ["new", "resume"],
        "additionalProperties": False,
    }
    properties["graph"] |= {"required": ["$START"], "properties": {"$START": start}}
    return schema


def schema_text() -> str:
    """The exact content of `SCHEMA_FILE`."""
    import json

    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def write_files(new: Mapping[str, str], called: Mapping[str, str]) -> None:
    """Write the texts of files, by path. A `called` one may exist already, if it is the same.

    Raises:
        UsageError: another one exists already, and none is written; or the disk has an error.
    """
    try:
        missing = {file: text for file, text in called.items() if not _is_there(file, text)}
        for file, text in {**new, **missing}.items():
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            with Path(file).open("x", encoding="utf-8") as stream:
                stream.write(text)
    except FileExistsError as error:
        raise UsageError(
            "the file exists already",
            where=str(error.filename),
            hint="choose another name, or remove it",
        ) from error
    except OSError as error:
        raise UsageError(
            f"cannot write the file: {error.strerror}", where=str(error.filename)
        ) from error


def _is_there(file: str, text: str) -> bool:
    """Whether a file has this text already.

    Raises:
        FileExistsError: it has another one.
    """
    try:
        found = read_regular(file, len(text.encode()), cut=True)
    except FileNotFoundError:
        return False
    if found != text.encode():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), file)
    return True
