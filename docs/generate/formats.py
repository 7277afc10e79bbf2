"""The page of the formats: every key of every file and document, read from its shape."""

import json
from collections.abc import Iterator

from generate.tables import table
from uwf_core.agents.wire import CommandEvent, CommandReply
from uwf_core.config.keys import Config
from uwf_core.fields.kinds import AnyOf, ListOf, MapOf, RecordOf, Shape
from uwf_core.fields.records import shape_of
from uwf_core.workflow.definition import Workflow
from uwf_eval.calibration.records import CalibrationFile
from uwf_eval.task.model import TaskFile

INTRODUCTION = """\
# File formats

Every key that uwf reads. A key without a default is required. `<name>` is a name that you choose,
`[]` an item of a list. In a file, an empty value of an optional key means its default.
"""
FORMATS = {
    "Workflow": (Workflow, "A workflow file; [how to write one](../guides/workflows.md)."),
    "config.yaml": (
        Config,
        "The [settings](../guides/configuration.md) of a user or project.",
    ),
    "task.yaml": (TaskFile, "A [task](../guides/is-my-workflow-better.md) of uwf-eval."),
    "Calibration set": (
        CalibrationFile,
        "Labelled results for [a judge](../guides/calibrate-judges.md) of uwf-eval.",
    ),
    "Reply of a command": (
        CommandReply,
        "The last line on stdout of a [command agent](../guides/write-agent.md). Unknown keys are "
        "ignored.",
    ),
    "Event of a command": (CommandEvent, "A line of the file that `UWF_EVENTS` names."),
}
HEADING = ["key", "value", "default", "meaning"]


def markdown() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for title, (cls, about) in FORMATS.items():
        parts.append(f"## {title}\n\n{about}\n\n{table(HEADING, _rows(shape_of(cls), ''))}\n")
    return "\n".join(parts)


def _rows(shape: Shape, prefix: str) -> Iterator[tuple[str, str, str, str]]:
    """The rows of all keys below a value of this shape."""
    if isinstance(shape, AnyOf):
        for member in shape.others:
            yield from _rows(member, prefix)
    elif isinstance(shape, MapOf):
        yield from _rows(shape.value, f"{prefix}.<name>")
    elif isinstance(shape, ListOf):
        yield from _rows(shape.items[0], f"{prefix}[]")
    elif isinstance(shape, RecordOf):
        for key, field in shape.fields.items():
            path = f"{prefix}.{key}".removeprefix(".")
            default = "" if field.required else f"`{json.dumps(field.default)}`"
            if default and isinstance(field.shape, RecordOf):
                default = "those of its keys"
            yield f"`{path}`", _value(field.shape), default, field.about
            yield from _rows(field.shape, path)


def _value(shape: Shape) -> str:
    members = shape.others if isinstance(shape, AnyOf) else [shape]
    rules = dict.fromkeys(rule.message for each in members for rule in each.rules)
    named = [rule.message for each in members for rule in each.rules if rule.names_type]
    if named:
        return named[0].removeprefix("must be ")
    wanted = " or ".join(each.wanted for each in members)
    more = [each.removeprefix("must be ") for each in rules if each.startswith("must be ")]
    return " ".join([wanted, *more])
