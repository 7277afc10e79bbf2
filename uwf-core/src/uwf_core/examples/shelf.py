"""The example workflows: which there are, and their texts made ready for files of one's own."""

import os
import re
from importlib import resources
from shlex import quote
from typing import NamedTuple

from uwf_core.cas.walk import reached
from uwf_core.errors import UnknownIdError, UsageError
from uwf_core.workflow.discover import FOLDERS, SUFFIXES
from uwf_core.workflow.starter import name_text, schema_path, starter, write_files


class Example(NamedTuple):
    """An example: its name and its one line of description."""

    name: str
    description: str


class Examples(NamedTuple):
    """All examples."""

    examples: list[Example]


class NewWorkflow(NamedTuple):
    """The files of a new workflow, the JSON Schema for editors, and the next commands."""

    name: str
    file: str
    files: list[str]
    schema: str
    next: list[str]


def new_workflow(
    name: str | None, example: str | None, *, examples: bool
) -> NewWorkflow | Examples:
    """Write a workflow file to start from, with those that it calls; or list the examples.

    Raises:
        UsageError: the name is missing or no name, or a file exists with another content.
    """
    if examples:
        return Examples(all_examples())
    if name is None:
        raise UsageError(
            "the name of the workflow is missing", hint="uwf workflow new NAME [--from EXAMPLE]"
        )
    file = name if name.endswith(SUFFIXES) else f"{name}.yaml"
    folder, stem = os.path.dirname(file), os.path.basename(file).rpartition(".")[0]  # noqa: PTH119, PTH120
    first, *others = new_texts(stem, example, file).items()
    texts = {os.path.join(folder, f"{each}.yaml"): text for each, text in others}  # noqa: PTH118
    write_files({file: first[1]}, texts)
    files = [os.path.abspath(each) for each in (file, *texts)]  # noqa: PTH100
    commands = [f"uwf workflow check {quote(file)}", *first_commands(first[1], file)]
    return NewWorkflow(stem, files[0], files, schema_path(), commands)


def all_examples() -> list[Example]:
    """All examples by name."""
    found = []
    for name in _names():
        text = _source(name)
        description = re.search(r"^description: (.*)$", text, re.MULTILINE)
        found.append(Example(name, description[1] if description else ""))
    return found


def new_texts(name: str, example: str | None, file: str | None = None) -> dict[str, str]:
    """The texts of a new workflow by name: the starter, or as `example_files` gives them."""
    return {name: starter(name)} if example is None else example_files(example, name, file)


def first_commands(text: str, file: str) -> list[str]:
    """What to do with a new workflow once it has passed the check, as commands: those that the
    comment of an example begins with, up to the first run; else the run.
    """
    found = list[str]()
    for line in text.splitlines():
        if line.startswith("#   uwf "):
            found.append(line.removeprefix("#").strip())
            if found[-1].startswith("uwf run "):
                return found
    return [f'uwf run {_run_word(file)} -p "YOUR TASK"']


def _run_word(file: str) -> str:
    """What `uwf run` calls a file: its path, its name where workflows have names."""
    folder, _, base = file.rpartition("/")
    if folder.rpartition("/")[2] in FOLDERS:
        return base.rpartition(".")[0]
    return quote(file if file.startswith(("/", "./", "../")) else f"./{file}")


def example_files(example: str, name: str, file: str | None = None) -> dict[str, str]:
    """The text of an example as a workflow called `name`, and those of the workflows that it calls,
    which keep their names; by workflow name, the example first. Each is for `<name>.yaml`, all in
    one folder.

    The comments of the example speak of `name` too, and their commands of `file`, where it will be;
    by default in the current folder. The line for editors, which names the JSON Schema beside the
    example, is left out: a file goes to other machines.

    Raises:
        UnknownIdError: there is no such example.
        UsageError: `name` is not valid for a workflow, or that of a workflow that it calls.
    """
    if example not in _names():
        raise UnknownIdError(
            f"there is no example {example!r}", hint=f"there are: {', '.join(_names())}"
        )
    called = _called(example)
    if name in called:
        raise UsageError(
            f"the example {example!r} calls a workflow {name!r}", hint="choose another name"
        )
    file = file or f"{name}.yaml"
    folder = file[: file.rfind("/") + 1]
    return {
        name: _renamed(example, name, file),
        **{each: _renamed(each, each, f"{folder}{each}.yaml") for each in called},
    }


def _called(example: str) -> list[str]:
    """The workflows that an example calls, directly or not."""
    calls = re.compile(r"^ +workflow: \./([\w-]+)\.yaml$", re.MULTILINE)
    return list(reached([example], lambda name: calls.findall(_source(name))))[1:]


def _renamed(example: str, name: str, file: str) -> str:
    own_name, run = name_text(name), f"uwf run {_run_word(file)}"
    add = f"workflow add {quote(file)}"
    own = re.compile(rf"(?<![\w-])(?<!uwf ){re.escape(example)}(?![\w-])")
    lines = list[str]()
    for line in _source(example).splitlines()[1:]:
        if line.startswith("#"):
            line = own.sub(lambda _: name, line)
            line = line.replace(f"uwf run ./{name}.yaml", run)
            line = line.replace(f"workflow add {name}.yaml", add)
        elif line.startswith("name: "):
            line = f"name: {own_name}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _names() -> list[str]:
    there = resources.files("uwf_core.examples").iterdir()
    return sorted(each.name.removesuffix(".yaml") for each in there if each.name.endswith(".yaml"))


def _source(name: str) -> str:
    return (resources.files("uwf_core.examples") / f"{name}.yaml").read_text(encoding="utf-8")
