"""`uwf workflow list`, `show` and `graph`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from uwf_core.cli.frame import command
from uwf_core.cli.render.style import Screen
from uwf_core.cli.session import Session

if TYPE_CHECKING:
    from uwf_core.workflow.definition import Definition


@command("list", "uwf workflow list")
def list_(session: Session) -> None:
    """List the workflows that you can start here by name, with their origins."""
    from uwf_core.cli.workflow.listing import list_workflows

    session.emit({"workflows": list_workflows(session.engine, session.note)}, _workflows_text)


@command("show", "uwf workflow show fix-bug", "uwf workflow show ./fix-bug.yaml --format yaml")
@click.argument("workflow", metavar="WORKFLOW")
def show(session: Session, workflow: str) -> None:
    """Show a workflow's definition. WORKFLOW is a name, a file or a reference."""
    session.emit(_definition(session, workflow), _definition_text)


@command("graph", "uwf workflow graph fix-bug > fix-bug.mmd", document=True)
@click.argument("workflow", metavar="WORKFLOW")
def graph(session: Session, workflow: str) -> None:
    """Draw a workflow as Mermaid text. WORKFLOW is a name, a file or a reference."""
    from uwf_core.workflow.mermaid import graph as draw

    drawn = _definition(session, workflow)
    document = {"workflow": drawn["workflow"], "workflowName": drawn["name"], "graph": draw(drawn)}
    session.emit(document, lambda each, _: str(each["graph"]))


def _definition(session: Session, word: str) -> dict[str, Any]:
    """The definition that a word selects, in the form of a checked file."""
    from uwf_core.cli.workflow.listing import published
    from uwf_core.engine.workflows import resolve_workflow

    meant = resolve_workflow(session.engine, word)
    for text in meant.notices[:-1]:
        session.note(text)
    ref = meant.ref or published(session.engine, meant.file or word)
    if ref is not None:
        return _as_document(session.engine.definition(ref))
    from uwf_core.workflow.check import check_file

    return {"workflow": None, **check_file(meant.file or word).require()}


def _as_document(definition: "Definition") -> dict[str, Any]:
    limits = definition.limits
    return {
        "workflow": definition.ref,
        "version": 1,
        "name": definition.name,
        "description": definition.description,
        "roles": {
            name: {
                "description": role.description,
                "goal": role.goal,
                "capabilities": list(role.capabilities),
                "procedure": role.procedure,
                "output": role.output,
                "frontmatter": dict(role.schema),
                "timeout": role.timeout,
                "tools": None if role.tools is None else list(role.tools),
            }
            for name, role in definition.roles.items()
        },
        "graph": {
            name: {status: edge._asdict() for status, edge in edges.items()}
            for name, edges in definition.graph.items()
        },
        "limits": {
            "maxSteps": limits.max_steps,
            "maxTokens": limits.max_tokens,
            "maxCostUsd": limits.max_cost_usd,
            "maxMinutes": limits.max_minutes,
        },
    }


def _workflows_text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.table import Column, table

    columns = (
        Column("name", "NAME", least=8),
        Column("source", "SOURCE", rank=2),
        Column("workflow", "REFERENCE", rank=3),
        Column("description", "DESCRIPTION", least=10, rank=1),
    )
    rows = document["workflows"]
    return table(columns, rows, screen) if rows else "no workflows; next: uwf workflow new NAME"


def _definition_text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.yaml_text import as_yaml

    return as_yaml(document)
