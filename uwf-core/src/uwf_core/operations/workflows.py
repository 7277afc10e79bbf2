"""What is done with workflows."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from uwf_core.operations.declare import Kind, Tool
from uwf_core.operations.kinds import MODELS, File, Workflow
from uwf_core.operations.table import operation

if TYPE_CHECKING:
    from uwf_core.ids import Ref
    from uwf_core.views.workflow_diff import WorkflowDiffDocument
    from uwf_core.views.workflows import CheckedFiles, GraphDocument, ProblemsDocument, WorkflowRow


@operation(
    "workflow.add", "engine.workflows:add_workflow", text="{name} {workflow}", key="workflow",
    permission="run", client="add_workflow",
)  # fmt: skip
def workflow_add(
    file: Annotated[File, Kind("path", "WORKFLOW", "file")],
    *,
    allow_programs: Annotated[
        bool, "Print the commands of its roles, and allow this version to run them."
    ] = False,
) -> "Ref":
    """Check a workflow file, store it and register it under its name.

    WORKFLOW is a file, a name that has one here, or the reference of a workflow of this store, such
    as one that came with a bundle. The same file always has the same reference. An existing name
    moves to the new version; threads keep the version that they were started with.

    $ uwf workflow add fix-bug.yaml
    $ uwf workflow add release.yaml --allow-programs
    $ uwf workflow add 6DJBC8QPVHWTA --allow-programs
    """


@operation(
    "workflow.check", "", run="workflow:check", formats=("sarif", "github"),
    mcp=[Tool("check", "file text", pages="problems")],
)  # fmt: skip
def workflow_check(
    files: Annotated[Sequence[str], Kind("", "WORKFLOW…", "file")],
    *,
    bound: Annotated[bool, "Print how many agent calls each valid workflow makes at most."] = False,
    fix: Annotated[bool, "First fix what is mechanical, in the files."] = False,
    file: Annotated[str, MODELS, Kind("", "FILE", "file"), "In the folder of the server."],
    text: Annotated[str | None, MODELS, "Check this text as if it were the file."] = None,
) -> "ProblemsDocument | CheckedFiles":
    """Report every error in workflow files, each with its place and a hint.

    WORKFLOW is a file, or a name that has one here.

    Exit code 0 with only warnings, 4 with an error, 2 if a file cannot be read (the others are
    still checked). Writes nothing without --fix and needs no store; if there is one, its registry
    can name the workflows that roles call.

    --format sarif prints a log for code scanning, --format github annotations of GitHub Actions.

    > Report every error of a workflow file with its line and a suggested fix. Use it after each
    > change of such a file.

    $ uwf workflow check fix-bug.yaml
    $ uwf workflow check .workflow/*.yaml
    $ uwf workflow check --fix fix-bug.yaml
    $ uwf workflow check --bound fix-bug.yaml
    $ uwf workflow check --format sarif .workflow/*.yaml > check.sarif
    """


@operation(
    "workflow.diff", "views.workflow_diff:diff_workflows",
    text="workflow:workflow_diff_text", exit=("same", 1), client="workflow_diff",
)  # fmt: skip
def workflow_diff(
    a: Annotated[str, Kind("", "A", "workflow")],
    b: Annotated[str | None, Kind("", "[B]", "workflow")] = None,
) -> "WorkflowDiffDocument":
    """Compare two workflows by meaning: roles, statuses, fields, edges, texts.

    A is the old version and B the new one: names, files or references. With A alone, the
    registered version of its name is the old one. Nothing is stored.

    Each change is compatible or breaking, once for forks (threads of the old version that
    continue on the new one) and once for callers (workflows that use the result).

    Exit code 0 without a difference, 1 with one; errors have their own codes, 2 for an unknown
    workflow, 4 for a file with errors.

    $ uwf workflow diff fix-bug ./fix-bug.yaml
    $ uwf workflow diff ./fix-bug.yaml
    """


@operation(
    "workflow.graph", "views.workflows:draw_workflow", text="{graph}", document=True,
    client="graph",
)  # fmt: skip
def workflow_graph(workflow: Workflow) -> "GraphDocument":
    """Draw a workflow as Mermaid text. WORKFLOW is a name, a file or a reference.

    $ uwf workflow graph fix-bug > fix-bug.mmd
    """


@operation(
    "workflow.list", "views.workflows:list_workflows", text="workflow:workflows_text",
    key="workflows", client="workflows", mcp=[Tool("workflows")],
)  # fmt: skip
def workflow_list() -> "Sequence[WorkflowRow]":
    """List the workflows that you can start here by name, with their origins.

    $ uwf workflow list
    """


@operation("workflow.new", "examples.shelf:new_workflow", text="workflow:new_text")
def workflow_new(
    name: Annotated[str | None, Kind("", "NAME")] = None,
    *,
    example: Annotated[
        str | None,
        Kind("", "EXAMPLE", options=("--from",)),
        "Copy an example instead of the starter.",
    ] = None,
    examples: Annotated[bool, "List the examples; write nothing."] = False,
) -> Any:
    """Write a workflow file to start from; it passes the check.

    NAME is the name of the workflow, for NAME.yaml in this folder, or the path of a new .yaml file.
    Workflows in the folder .workflow can be started by name.

    $ uwf workflow new review
    $ uwf workflow new .workflow/review.yaml
    $ uwf workflow new fix-bug --from fix-bug
    $ uwf workflow new --examples
    """


@operation(
    "workflow.show", "views.workflows:show_workflow", text="workflow:definition_text",
    client="workflow",
)  # fmt: skip
def workflow_show(workflow: Workflow) -> Mapping[str, Any]:
    """Show a workflow's definition, and how many agent calls it makes at most.

    WORKFLOW is a name, a file or a reference. The guide on budgets describes the bound.

    $ uwf workflow show fix-bug
    $ uwf workflow show ./fix-bug.yaml --format yaml
    """
