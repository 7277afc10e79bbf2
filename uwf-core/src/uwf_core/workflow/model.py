"""The shape of a workflow file, as pydantic models: structure, defaults, and the JSON Schema.

The other checks cover the graph, templates and statuses.
"""

import json
import os
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

Loc = tuple[str | int, ...]
"""The path to a value in a file: keys, and positions in lists."""

VERSION = 1
NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9._-]*$"

_DISABLED = "PYDANTIC_DISABLE_PLUGINS"
# While it creates these classes, pydantic would import the plugins of all distributions.
_set_before = os.environ.get(_DISABLED)
os.environ[_DISABLED] = "__all__"


class _Shape(BaseModel):
    model_config = ConfigDict(
        extra="forbid", strict=True, alias_generator=to_camel, populate_by_name=False
    )


class EdgeShape(_Shape):
    """The edge of a status."""

    role: Annotated[str, Field(description="The next role, or $END or $SUSPEND.")]
    prompt: Annotated[
        str,
        Field(
            json_schema_extra={"minLength": 1},
            description="The prompt of the next role. {{{field}}} is a field of the output, "
            "{{{_body}}} the text after its frontmatter. For $SUSPEND: the question to a person.",
        ),
    ]
    location: Annotated[
        str | None,
        Field(description="The working folder of that step; also a template."),
    ] = None


class RoleShape(_Shape):
    """A role: one isolated session of an agent."""

    description: Annotated[str, Field(description="For people: the purpose of the role.")] = ""
    goal: Annotated[
        str, Field(json_schema_extra={"minLength": 1}, description="The goal of the role.")
    ]
    capabilities: Annotated[list[str], Field(description="The skills of the role.")] = []
    procedure: Annotated[str, Field(description="How the role works.")] = ""
    output: Annotated[str, Field(description="What the role's answer should contain.")] = ""
    frontmatter: Annotated[
        dict[str, Any],
        Field(
            description="The JSON Schema (draft 2020-12) of the role's output. Each "
            "variant (oneOf) fixes $status by a const and requires it."
        ),
    ]
    timeout: Annotated[float | None, Field(gt=0, description="Seconds for one step.")] = None
    tools: Annotated[
        list[str] | None, Field(description="The only tools that the role's agent may use.")
    ] = None


class LimitsShape(_Shape):
    """The limits of a whole thread."""

    max_steps: Annotated[int | None, Field(gt=0, description="Steps in all.")] = None
    max_tokens: Annotated[int | None, Field(gt=0, description="Input and output tokens.")] = None
    max_cost_usd: Annotated[float | None, Field(gt=0, description="US dollars.")] = None
    max_minutes: Annotated[float | None, Field(gt=0, description="Minutes spent running.")] = None


class WorkflowShape(_Shape):
    """A uwf workflow."""

    version: Annotated[int, Field(description="The format of this file: 1.")] = VERSION
    name: Annotated[
        str, Field(description="The file's name without .yaml (index.yaml: its folder's name).")
    ]
    description: Annotated[str, Field(description="For people: the purpose of the workflow.")] = ""
    roles: Annotated[dict[str, RoleShape], Field(description="The roles by name.")]
    graph: Annotated[
        dict[str, dict[str, EdgeShape]],
        Field(
            description="The edge of each role and each $status. $START has the edges "
            "`new` and `resume`."
        ),
    ]
    limits: Annotated[
        LimitsShape, Field(default_factory=LimitsShape, description="Limits of a thread.")
    ]


if _set_before is None:
    del os.environ[_DISABLED]  # agents inherit the environment as the user has set it
else:
    os.environ[_DISABLED] = _set_before


def known_keys(loc: Loc) -> list[str]:
    """The allowed keys of the mapping at `loc` of a workflow file."""
    shape = _shape_at(loc)
    return [] if shape is None else [_key(item) for item in shape.model_fields.items()]


def optional_keys(loc: Loc) -> list[str]:
    """Those of `known_keys` that are optional."""
    shape = _shape_at(loc)
    fields = {} if shape is None else shape.model_fields
    return [_key(item) for item in fields.items() if not item[1].is_required()]


def _shape_at(loc: Loc) -> type[BaseModel] | None:
    match loc:
        case ():
            return WorkflowShape
        case ("roles", _):
            return RoleShape
        case ("graph", _, _):
            return EdgeShape
        case ("limits",):
            return LimitsShape
    return None


def _key(item: tuple[str, FieldInfo]) -> str:
    return item[1].alias or item[0]


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the file format, for editors; shipped as `schema.json`."""
    schema = WorkflowShape.model_json_schema(by_alias=True)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_without_titles(schema),
        "patternProperties": {"^x-": {"description": "Anything; a place for YAML anchors."}},
    }
    properties = schema["properties"]
    properties["version"]["const"] = VERSION
    properties["name"]["pattern"] = NAME_PATTERN
    properties["roles"] |= {"propertyNames": {"pattern": NAME_PATTERN}, "minProperties": 1}
    properties["graph"]["required"] = ["$START"]
    properties["graph"]["properties"] = {"$START": _start(schema)}
    return schema


def schema_text() -> str:
    """The exact content of `schema.json`."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def _start(schema: dict[str, Any]) -> dict[str, Any]:
    edge = {"$ref": "#/$defs/EdgeShape"}
    assert "EdgeShape" in schema["$defs"]
    return {
        "type": "object",
        "description": "The first role of a thread, and of a reopened one.",
        "properties": {"new": edge, "resume": edge},
        "required": ["new", "resume"],
        "additionalProperties": False,
    }


def _without_titles(schema: Any) -> Any:
    """Remove the titles that pydantic makes from field names: editors would show them."""
    if isinstance(schema, list):
        return [_without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_titles(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }
