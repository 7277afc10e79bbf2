"""`uwf workflow`: show definitions, write new ones."""

import os
from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import UsageError
from uwf_core.workflow.file_name import SUFFIXES


def show(session: Session, workflow: str) -> None:
    """Show a definition, for people with its bound."""
    from uwf_core.views.workflows import show_workflow

    document, bound = show_workflow(session.engine, workflow, session.note)
    session.emit(document, lambda each, _: _definition_text({**each, "bound": bound.words()}))


_NO_WORKFLOWS = """\
no workflow can be started here by name
next: uwf workflow new .workflow/NAME.yaml
  or: uwf workflow add FILE"""


def workflows_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`workflow list`."""
    from uwf_core.cli.render.table import Column, table

    columns = (
        Column("name", "NAME", least=8),
        Column("source", "SOURCE", rank=2),
        Column("workflow", "REFERENCE", rank=3),
        Column("description", "DESCRIPTION", least=10, rank=1),
    )
    rows = document["workflows"]
    return table(columns, rows, screen) if rows else _NO_WORKFLOWS


def _definition_text(document: Mapping[str, Any]) -> str:
    from uwf_core.workflow.yaml_text import yaml_text

    return yaml_text(document).rstrip()


def new(session: Session, name: str | None, example: str | None, examples: bool) -> None:
    """Write a workflow file to start from."""
    if examples:
        from uwf_core.examples.shelf import examples as all_examples

        session.emit({"examples": [each._asdict() for each in all_examples()]}, _examples_text)
        return
    if name is None:
        raise UsageError(
            "the name of the workflow is missing", hint="uwf workflow new NAME [--from EXAMPLE]"
        )
    file = name if name.endswith(SUFFIXES) else f"{name}.yaml"
    from shlex import quote

    from uwf_core.examples.shelf import first_commands, new_texts
    from uwf_core.workflow.new_files import write_files
    from uwf_core.workflow.starter import schema_path

    folder, stem = os.path.dirname(file), os.path.basename(file).rpartition(".")[0]  # noqa: PTH119, PTH120
    first, *others = new_texts(stem, example, file).items()
    texts = {os.path.join(folder, f"{each}.yaml"): text for each, text in others}  # noqa: PTH118
    write_files({file: first[1]}, texts)
    files = [os.path.abspath(each) for each in (file, *texts)]  # noqa: PTH100
    commands = [f"uwf workflow check {quote(file)}", *first_commands(first[1], file)]
    document = {
        "name": stem, "file": files[0], "files": files, "schema": schema_path(), "next": commands
    }  # fmt: skip
    session.emit(document, _new_text)


def _new_text(document: Mapping[str, Any], _screen: Screen) -> str:
    from uwf_core.cli.render.commands import in_order

    schema = f"JSON Schema for your editor: {document['schema']}"
    return "\n".join([*document["files"], schema, *in_order(document["next"])])


def _examples_text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.table import Column, table

    columns = (Column("name", "EXAMPLE"), Column("description", "DESCRIPTION", least=10))
    return table(columns, document["examples"], screen)
