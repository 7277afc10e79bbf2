"""Which workflows can be started here: the rows of `workflow list`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict

from uwf_core.errors import UwfError

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine


class WorkflowRow(TypedDict):
    """A workflow that can be started by its name. `workflow` is null for a file, whose content
    may not be published yet; `source` is local, path or registry.
    """

    name: str
    workflow: str | None
    source: str
    description: str


def list_workflows(
    engine: "Engine", notice: Callable[[str], None] = lambda text: None
) -> list[WorkflowRow]:
    """What each name means here, sorted by name; `notice` gets a line for what is passed over."""
    from uwf_core.engine.workflows import resolve_workflow
    from uwf_core.workflow.discover import local_workflows, workflows_in
    from uwf_core.workflow.registry import registry

    paths = engine.settings.workflow_paths
    names = set(registry(engine.store))
    names |= {found.name for found in local_workflows(engine.cwd)}
    names |= {found.name for folder in paths for found in workflows_in(folder, folder)}
    rows: list[WorkflowRow] = []
    for name in sorted(names):
        meant = resolve_workflow(engine, name)
        for text in meant.notices[:-1]:
            notice(text)
        if meant.ref is not None:
            description = _published(engine, meant.ref)
        else:
            description = described(meant.file or "")
        source = "path" if meant.source == "config" else meant.source
        rows.append(
            {"name": name, "workflow": meant.ref, "source": source, "description": description}
        )
    return rows


def _published(engine: "Engine", ref: str) -> str:
    """The description of a published workflow; what is damaged says so and spoils no list."""
    try:
        payload = engine.store.get(ref).payload
        return str(payload.get("description", ""))
    except UwfError as error:
        return f"({error.message})"


def described(file: str) -> str:
    """The description in a workflow file, read without checking it."""
    from uwf_core.workflow.source_file import read_text
    from uwf_core.workflow.yaml_nodes import YamlMapping, YamlScalar
    from uwf_core.workflow.yaml_source import compose_all

    try:
        node = compose_all(read_text(file), file=file, include=True).node
    except UwfError as error:
        return f"({error.message})"
    found = node.values.get("description") if isinstance(node, YamlMapping) else None
    return found.text if isinstance(found, YamlScalar) else ""
