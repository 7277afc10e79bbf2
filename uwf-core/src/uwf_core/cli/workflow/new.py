"""`uwf workflow new`."""

import os
from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.frame import command
from uwf_core.cli.render.style import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import UsageError


@command(
    "new",
    "uwf workflow new review",
    "uwf workflow new .workflow/review.yaml",
    "uwf workflow new fix-bug --from fix-bug",
    "uwf workflow new --examples",
)
@click.argument("name", metavar="NAME", required=False)
@click.option(
    "--from", "example", metavar="EXAMPLE", help="Copy an example instead of the starter."
)
@click.option("--examples", is_flag=True, help="List the examples; write nothing.")
def new(session: Session, name: str | None, example: str | None, examples: bool) -> None:
    """Write a workflow file to start from; it passes the check.

    NAME is the name of the workflow, for NAME.yaml in this folder, or the path of a new .yaml file.
    Workflows in the folder .workflow can be started by name.
    """
    if examples:
        from uwf_core.examples.shelf import examples as all_examples

        session.emit({"examples": [each._asdict() for each in all_examples()]}, _examples_text)
        return
    if name is None:
        raise UsageError(
            "the name of the workflow is missing", hint="uwf workflow new NAME [--from EXAMPLE]"
        )
    file = name if name.endswith((".yaml", ".yml")) else f"{name}.yaml"
    stem = os.path.basename(file).rpartition(".")[0]  # noqa: PTH119
    _write(file, _text(stem, example))
    document = {"name": stem, "file": os.path.abspath(file)}  # noqa: PTH100
    session.emit(document, lambda each, _: f"{each['file']}\nnext: uwf workflow check {file}")


def _text(name: str, example: str | None) -> str:
    if example is None:
        from uwf_core.workflow.starter import starter

        return starter(name)
    from uwf_core.examples.shelf import example_text

    return example_text(example, name)


def _write(file: str, text: str) -> None:
    try:
        os.makedirs(os.path.dirname(file) or ".", exist_ok=True)  # noqa: PTH103, PTH120
        with open(file, "x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise UsageError(
            "the file exists already", where=file, hint="choose another name, or remove it"
        ) from error
    except OSError as error:
        raise UsageError(f"cannot write the file: {error.strerror}", where=file) from error


def _examples_text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.table import Column, table

    columns = (Column("name", "EXAMPLE"), Column("description", "DESCRIPTION", least=10))
    return table(columns, document["examples"], screen)
