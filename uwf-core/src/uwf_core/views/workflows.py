"""Workflows as documents: those that can be started here, one of them, its graph, its problems."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict

from uwf_core.errors import UwfError
from uwf_core.fields.records import write_record
from uwf_core.yaml.problem import Problem

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.ids import Ref
    from uwf_core.workflow.bound import Bound
    from uwf_core.workflow.check import Checked
    from uwf_core.workflow.definition import Workflow


class WorkflowRow(TypedDict):
    """A workflow that can be started by its name. `workflow` is null for a file whose content is
    not published yet; `source` is local, path or registry.
    """

    name: str
    workflow: str | None
    source: str
    description: str


class GraphDocument(TypedDict):
    """A workflow as Mermaid text; `workflow` is null for a file whose content is not published."""

    workflow: str | None
    workflowName: str
    graph: str


class FileBound(TypedDict):
    """How many agent calls the workflow of a file makes at most."""

    file: str
    name: str | None
    bound: "Annotated[dict[str, Any], Bound]"


class ProblemsDocument(TypedDict):
    """The problems of workflow files; valid files may have warnings."""

    valid: bool
    problems: list[Annotated[dict[str, Any], Problem]]


class CheckedFiles(ProblemsDocument):
    """What `workflow check` gives with --fix (`fixed`: what was fixed first) and --bound (`bounds`
    of the valid files).
    """

    fixed: NotRequired[list[Annotated[dict[str, Any], Problem]]]
    bounds: NotRequired[list[FileBound]]


class WorkflowStanding(TypedDict):
    """What `workflow show` adds to a definition; `workflow` is null for an unpublished file."""

    workflow: str | None
    bound: "Annotated[dict[str, Any], Bound]"


def list_workflows(
    engine: "Engine", notice: Callable[[str], None] = lambda text: None
) -> list[WorkflowRow]:
    """The workflow of each name, sorted; `notice` gets a line for each file that is skipped."""
    from uwf_core.engine.workflows import resolve_workflow, trusting
    from uwf_core.workflow.discover import local_workflows, registry, workflows_in
    from uwf_core.workflow.load import description_of

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
    from uwf_core.workflow.definition import is_workflow
    from uwf_core.workflow.publish import reference_of

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


def show_workflow(
    engine: "Engine", word: str, notice: Callable[[str], None]
) -> "Annotated[Mapping[str, Any], Workflow, WorkflowStanding]":
    """The definition of the workflow that a word names, with its reference (null for a file whose
    content is not published) and how many agent calls it makes at most. Stores nothing.

    Raises:
        UsageError: it is unknown. DefinitionError: the file has errors.
    """
    from uwf_core.engine.workflows import bound_of_workflow
    from uwf_core.views.workflow_shape import mapping_of, shown_workflow

    found = _found(engine, word, notice)
    bound = write_record(bound_of_workflow(engine, found))
    ref = None if isinstance(found, dict) else found
    mapping = found if isinstance(found, dict) else mapping_of(engine.definition(found))
    return {"workflow": ref, "bound": bound, **shown_workflow(mapping)}


def draw_workflow(engine: "Engine", word: str, notice: Callable[[str], None]) -> GraphDocument:
    """The graph of the workflow that a word names. Raises as `show_workflow`."""
    from uwf_core.engine.workflows import drafted
    from uwf_core.views.workflow_shape import graph

    found = _found(engine, word, notice)
    definition, read = drafted(engine, found)
    ref = None if isinstance(found, dict) else found
    return {"workflow": ref, "workflowName": definition.name, "graph": graph(definition, read)}


def check_document(checked: "Sequence[Checked]") -> CheckedFiles:
    """The problems of checked files."""
    return {
        "valid": all(each.valid for each in checked),
        "problems": [problem.document() for each in checked for problem in each.problems],
    }


def unquoted_document(checked: "Checked") -> ProblemsDocument:
    """The problems of a checked text; those that could quote another file say only what their codes
    mean.
    """
    from uwf_core.workflow.codes import CODES

    document = check_document([checked])
    for each in document["problems"]:
        if checked.includes or each["file"] != checked.file:
            each.update(message=CODES.get(each["code"], each["code"]), hint="")
    return document


def _found(engine: "Engine", word: str, notice: Callable[[str], None]) -> "Ref | dict[str, Any]":
    """What a word selects: a published workflow, or what a file defines, checked."""
    from uwf_core.engine.workflows import check_workflow, resolve_workflow

    meant = resolve_workflow(engine, word)
    for text in meant.notices[:-1]:
        notice(text)
    ref = meant.ref or published(engine, meant.file or word)
    return ref or check_workflow(engine, meant.file or word, notice).require()
