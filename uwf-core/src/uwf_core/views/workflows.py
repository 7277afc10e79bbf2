"""The workflows that can be started here: the rows of `workflow list`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict

from uwf_core.errors import UwfError

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.ids import Ref


class WorkflowRow(TypedDict):
    """A workflow that can be started by its name. `workflow` is null for a file whose content is
    not published yet; `source` is local, path or registry.
    """

    name: str
    workflow: str | None
    source: str
    description: str


def list_workflows(
    engine: "Engine", notice: Callable[[str], None] = lambda text: None
) -> list[WorkflowRow]:
    """The workflow of each name, sorted; `notice` gets a line for each file that is skipped."""
    from uwf_core.engine.workflows import resolve_workflow, trusting
    from uwf_core.workflow.content import description_of
    from uwf_core.workflow.discover import local_workflows, workflows_in
    from uwf_core.workflow.registry import registry

    paths = engine.settings.workflow_paths
    names = set(registry(engine.store))
    names |= {found.name for found in local_workflows(engine.cwd, trusting(engine))}
    names |= {found.name for folder in paths for found in workflows_in(folder, folder)}
    rows: list[WorkflowRow] = []
    for name in sorted(names):
        meant = resolve_workflow(engine, name)
        for text in meant.notices[:-1]:
            notice(text)
        source = "path" if meant.source == "config" else meant.source
        ref = meant.ref or published(engine, meant.file or "")
        if meant.file is None:
            description = _description(engine, ref or "")
        else:
            description = description_of(meant.file)
        rows.append({"name": name, "workflow": ref, "source": source, "description": description})
    return rows


def published(engine: "Engine", file: str) -> "Ref | None":
    """The reference of a file's workflow if exactly that is in the store; does not validate it."""
    from uwf_core.workflow.content import reference_of
    from uwf_core.workflow.definition import is_workflow

    try:
        ref = reference_of(file)
        return ref if ref is not None and is_workflow(engine.store, ref) else None
    except UwfError:
        return None  # the command that uses the file reports its errors


def _description(engine: "Engine", ref: str) -> str:
    """The description of a published workflow; a damaged one still gets a row."""
    try:
        payload = engine.store.get(ref).payload
        return str(payload.get("description", ""))
    except UwfError as error:
        return f"({error.message})"
