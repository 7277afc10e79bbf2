"""Two workflows that words name, compared: the document of `workflow diff`."""

from typing import TYPE_CHECKING, Any, TypedDict

from uwf_core.engine.workflows import drafted, read_workflow
from uwf_core.errors import UnknownIdError
from uwf_core.views.workflow_shape import as_in_file
from uwf_core.workflow.changes import Verdict, WorkflowChange
from uwf_core.workflow.definition import Definition, Workflow
from uwf_core.workflow.diff import compare_workflows
from uwf_core.workflow.discover import registered

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.watch import Watch


class ComparedWorkflow(TypedDict):
    """A side; `workflow` is null for a file whose content is not published."""

    workflow: str | None
    workflowName: str


class ChangeDocument(TypedDict):
    """A change at `place`, with what each side has there (null: nothing).

    `forks` and `callers`: `compatible` or `breaking`, and the reason if it is breaking.
    """

    kind: str
    place: str
    a: Any
    b: Any
    forks: Verdict
    forksReason: str | None
    callers: Verdict
    callersReason: str | None


class WorkflowDiffDocument(TypedDict):
    """What `workflow diff` gives. `forks` and `callers` are `breaking` if one change is."""

    a: ComparedWorkflow
    b: ComparedWorkflow
    same: bool
    forks: Verdict
    callers: Verdict
    changes: list[ChangeDocument]


def diff_workflows(engine: "Engine", a: str, b: str | None, watch: "Watch") -> WorkflowDiffDocument:
    """Compare the workflows of two words; with one, the registered version of its name with it.

    Raises:
        UsageError: one of them is unknown. DefinitionError: a file has errors.
    """
    new, of_b = _read(engine, a if b is None else b, watch)
    word = _registered(engine, new.name) if b is None else a
    old, of_a = _read(engine, word, watch)
    changes = [_document(change) for change in compare_workflows(old, new)]
    return {
        "a": of_a,
        "b": of_b,
        "same": not changes,
        "forks": _verdict(any(each["forks"] == "breaking" for each in changes)),
        "callers": _verdict(any(each["callers"] == "breaking" for each in changes)),
        "changes": changes,
    }


def _registered(engine: "Engine", name: str) -> str:
    ref = registered(engine.store, name)
    if ref is None:
        raise UnknownIdError(
            f"the name {name!r} is not registered, so there is no version to compare with",
            hint="name two workflows: uwf workflow diff OLD NEW; or register one: "
            "uwf workflow add FILE",
        )
    return ref


def _read(engine: "Engine", word: str, watch: "Watch") -> tuple[Workflow, ComparedWorkflow]:
    found = read_workflow(engine, word, watch)
    definition, _ = drafted(engine, found)
    ref = None if isinstance(found, dict) else found
    return _with_texts(definition), {"workflow": ref, "workflowName": definition.name}


def _with_texts(definition: Definition) -> Workflow:
    """A workflow in the shape of its file, with the texts of its skills."""
    workflow = as_in_file(definition)
    roles = dict(workflow.roles)
    for name, role in roles.items():
        if role.skill_texts:
            texts = {key: definition.text(ref) for key, ref in role.skill_texts.items()}
            roles[name] = role._replace(skill_texts=texts)
    return workflow._replace(roles=roles)


def _document(change: WorkflowChange) -> ChangeDocument:
    return {
        "kind": change.kind,
        "place": change.place,
        "a": change.a,
        "b": change.b,
        "forks": _verdict(change.forks is not None),
        "forksReason": change.forks,
        "callers": _verdict(change.callers is not None),
        "callersReason": change.callers,
    }


def _verdict(is_breaking: bool) -> Verdict:
    return "breaking" if is_breaking else "compatible"
