"""Problems of workflow files for other programs: a SARIF log, and annotations of GitHub Actions."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from uwf_core.errors import UsageError
from uwf_core.escape import clean
from uwf_core.workflow.codes import CODES


def annotations(problems: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each problem: `::error file=…,line=…,col=…,title=CODE::MESSAGE`."""
    for each in problems:
        text = each["message"] + (f" ({each['hint']})" if each["hint"] else "")
        properties = {
            "file": each["file"],
            "line": each["line"],
            "col": each["column"],
            "title": each["code"],
        }
        named = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
        yield f"::{each['severity']} {named}::{_data(text)}"


def _data(text: str) -> str:
    """The text escaped; harmless also for a terminal, since the line is in a log as well."""
    return clean(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_text(
    problems: Sequence[Mapping[str, Any]], unread: Sequence[UsageError], version: str
) -> str:
    """The log of one run.

    Args:
        problems: as `uwf workflow check --format json` lists them.
        unread: the errors of files that could not be read.
        version: of uwf-core.
    """
    used = sorted({each["code"] for each in problems})
    run = {
        "tool": {
            "driver": {"name": "uwf", "version": version, "rules": [_rule(code) for code in used]}
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(unread)],
        "results": [_result(each, used.index(each["code"])) for each in problems],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(code: str) -> dict[str, Any]:
    return {"id": code, "shortDescription": {"text": CODES[code]}}


def _invocation(unread: Sequence[UsageError]) -> dict[str, Any]:
    notifications = [
        {
            "level": "error",
            "message": {"text": each.message},
            "locations": [_location(str(each.where))],
        }
        for each in unread
    ]
    return {
        "executionSuccessful": not unread,
        **({"toolExecutionNotifications": notifications} if notifications else {}),
    }


def _result(problem: Mapping[str, Any], rule: int) -> dict[str, Any]:
    message, hint = problem["message"], problem["hint"]
    region = {"startLine": problem["line"], "startColumn": problem["column"]}
    return {
        "ruleId": problem["code"],
        "ruleIndex": rule,
        "level": problem["severity"],
        "message": {"text": f"{message} ({hint})" if hint else message},
        "locations": [_location(problem["file"], region)],
    }


def _location(file: str, region: Mapping[str, int] | None = None) -> dict[str, Any]:
    path = PurePath(file)
    uri = path.as_uri() if path.is_absolute() else quote(os.fsencode(path))
    place = {"artifactLocation": {"uri": uri}}
    return {"physicalLocation": place if region is None else {**place, "region": region}}
