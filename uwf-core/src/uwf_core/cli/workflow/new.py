"""`uwf workflow new`."""

import os

import click

from uwf_core.cli.frame import command
from uwf_core.cli.session import Session
from uwf_core.errors import UsageError


@command("new", "uwf workflow new review", "uwf workflow new .workflow/review.yaml")
@click.argument("name", metavar="NAME")
def new(session: Session, name: str) -> None:
    """Write a starter workflow that passes the check, to begin with.

    NAME is the workflow's name, for NAME.yaml in this folder, or the path of a new .yaml file.
    """
    from uwf_core.workflow.starter import starter

    file = name if name.endswith((".yaml", ".yml")) else f"{name}.yaml"
    stem = os.path.basename(file).rpartition(".")[0]  # noqa: PTH119
    text = starter(stem)
    try:
        with open(file, "x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise UsageError(
            "the file is there already", where=file, hint="choose another name, or remove it"
        ) from error
    except OSError as error:
        raise UsageError(f"it cannot be written: {error.strerror}", where=file) from error
    document = {"name": stem, "file": os.path.abspath(file)}  # noqa: PTH100
    session.emit(document, lambda each, _: f"{each['file']}\ngo on: uwf workflow check {file}")
