"""The example workflows: which there are, and their texts made ready for a file of one's own."""

import re
from importlib.resources import files

from uwf_core.errors import UnknownIdError
from uwf_core.named_tuple import NamedTuple
from uwf_core.workflow.starter import name_text


class Example(NamedTuple):
    """An example: its name and its one line of description."""

    name: str
    description: str


def examples() -> list[Example]:
    """All examples by name."""
    found = []
    for name in _names():
        text = _source(name)
        description = re.search(r"^description: (.*)$", text, re.MULTILINE)
        found.append(Example(name, description[1] if description else ""))
    return found


def example_text(example: str, name: str) -> str:
    """The text of an example as a workflow called `name`, for the file `<name>.yaml`.

    Its comments speak of `name` too. The line for editors, which names the JSON Schema beside the
    example, is left out: a file goes to other machines.

    Raises:
        UnknownIdError: there is no such example.
        UsageError: `name` is not valid for a workflow.
    """
    if example not in _names():
        raise UnknownIdError(
            f"there is no example {example!r}", hint=f"there are: {', '.join(_names())}"
        )
    own_name = name_text(name)
    own = re.compile(rf"(?<![\w-]){re.escape(example)}(?![\w-])")
    lines = list[str]()
    for line in _source(example).splitlines()[1:]:
        if line.startswith("#"):
            line = own.sub(lambda _: name, line)
        elif line.startswith("name: "):
            line = f"name: {own_name}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _names() -> list[str]:
    there = files("uwf_core.examples").iterdir()
    return sorted(each.name.removesuffix(".yaml") for each in there if each.name.endswith(".yaml"))


def _source(name: str) -> str:
    return (files("uwf_core.examples") / f"{name}.yaml").read_text(encoding="utf-8")
