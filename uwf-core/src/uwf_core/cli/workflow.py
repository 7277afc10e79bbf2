"""`uwf workflow`: publish, list, show and draw definitions; write new ones."""

import os
from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.outcome import watch
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import UsageError
from uwf_core.workflow.file_name import SUFFIXES


@command("list", "uwf workflow list")
def list_(session: Session) -> None:
    """List the workflows that you can start here by name, with their origins."""
    from uwf_core.views.workflows import list_workflows

    session.emit({"workflows": list_workflows(session.engine, session.note)}, _workflows_text)


@command("show", "uwf workflow show fix-bug", "uwf workflow show ./fix-bug.yaml --format yaml")
@click.argument("workflow", metavar="WORKFLOW")
def show(session: Session, workflow: str) -> None:
    """Show a workflow's definition, and how many agent calls it makes at most.

    WORKFLOW is a name, a file or a reference. The guide on budgets describes the bound.
    """
    from uwf_core.views.workflows import show_workflow

    document, bound = show_workflow(session.engine, workflow, session.note)
    session.emit(document, lambda each, _: _definition_text({**each, "bound": bound.words()}))


@command("graph", "uwf workflow graph fix-bug > fix-bug.mmd", document=True)
@click.argument("workflow", metavar="WORKFLOW")
def graph(session: Session, workflow: str) -> None:
    """Draw a workflow as Mermaid text. WORKFLOW is a name, a file or a reference."""
    from uwf_core.views.workflows import draw_workflow

    document = draw_workflow(session.engine, workflow, session.note)
    session.emit(document, lambda each, _: str(each["graph"]))


_NO_WORKFLOWS = """\
no workflow can be started here by name
next: uwf workflow new .workflow/NAME.yaml
  or: uwf workflow add FILE"""


def _workflows_text(document: Mapping[str, Any], screen: Screen) -> str:
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


@command(
    "add",
    "uwf workflow add fix-bug.yaml",
    "uwf workflow add release.yaml --allow-programs",
    "uwf workflow add 6DJBC8QPVHWTA --allow-programs",
    logged=True,
)
@click.argument("file", metavar="WORKFLOW")
@click.option(
    "--allow-programs",
    is_flag=True,
    help="Print the commands of its roles, and allow this version to run them.",
)
def add(session: Session, file: str, allow_programs: bool) -> None:
    """Check a workflow file, store it and register it under its name.

    WORKFLOW is a file, a name that has one here, or the reference of a workflow of this store, such
    as one that came with a bundle. The same file always has the same reference. An existing name
    moves to the new version; threads keep the version that they were started with.
    """
    from uwf_core.engine.workflows import publish_word
    from uwf_core.workflow.registry import register

    engine = session.engine
    with watch(session) as live:
        ref = publish_word(engine, file, live)
    name = engine.definition(ref).name
    if engine.definition(ref).runs_programs:
        from uwf_core.engine.allowance import add_programs

        add_programs(engine, ref, session.note, allow=allow_programs)
    register(engine.store, name, ref)
    document = {"name": name, "workflow": ref}
    session.emit(document, lambda each, _: f"{each['name']} {each['workflow']}")


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
