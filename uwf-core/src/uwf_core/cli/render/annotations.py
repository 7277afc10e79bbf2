"""The problems of workflow files as workflow commands of GitHub Actions, which annotate the lines.

The format: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from uwf_core.escape import clean


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
