"""Stage 2, check: validate a workflow file and report every error in one run."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.cas.bounds import MAX_PROBLEMS
from uwf_core.errors import DefinitionError
from uwf_core.workflow.calls import Calls
from uwf_core.workflow.comment_check import check_comments
from uwf_core.workflow.graph_check import check_graph
from uwf_core.workflow.load import Loaded, load_file, load_text
from uwf_core.workflow.parsed import ParsedWorkflow, parse_workflow
from uwf_core.workflow.problem import Place, Problem, as_definition_error, error_at
from uwf_core.workflow.role_kinds import check_suggestions, kind_of
from uwf_core.workflow.role_schema import RoleSchema, check_role_schema
from uwf_core.workflow.structure import check_structure
from uwf_core.workflow.template_check import check_templates
from uwf_core.workflow.typed_input import check_input
from uwf_core.workflow.yaml_nodes import YamlMapping

if TYPE_CHECKING:
    from uwf_core.workflow.callees import Callees
    from uwf_core.workflow.guidance_check import GuidanceCheck
    from uwf_core.workflow.variants import Analysis

_OWNER = re.compile(r"\b(roles|graph)\.[^.\s]+")


class Checked(NamedTuple):
    """The result of a check.

    Attributes:
        file: the file as the caller named it.
        problems: every error, sorted by place; errors of an included file name that file.
        workflow: the completed mapping, with every default, includes resolved, `x-*` gone, each
            role's frontmatter and the input a schema without references, and in place of a called
            workflow that is not published its own completed mapping; None if there is an error.
        includes: whether it has an include, even one that is rejected.
    """

    file: str
    problems: tuple[Problem, ...]
    workflow: dict[str, Any] | None
    includes: bool = False

    @property
    def valid(self) -> bool:
        """Whether it can be published: warnings are allowed."""
        return self.workflow is not None

    @property
    def name(self) -> str | None:
        """The name of the workflow, if the file is valid."""
        return None if self.workflow is None else self.workflow["name"]

    def require(self) -> dict[str, Any]:
        """The completed workflow.

        Raises:
            DefinitionError: there are errors; `problems` has all of them.
        """
        if self.workflow is None:
            raise as_definition_error(self.problems)
        return self.workflow


def check_file(path: str, callees: "Callees | None" = None) -> Checked:
    """Check the workflow in a file. `callees` finds the workflows that its roles call.

    Raises:
        UsageError: the file is missing or cannot be read.
    """
    try:
        loaded = load_file(path)
    except DefinitionError as error:
        return rejected(path, error)
    return check_loaded(loaded, path, callees)


def check_text(text: str, file: str, callees: "Callees | None" = None) -> Checked:
    """Check the text of a workflow. `file` is its name in problems, and the base of includes."""
    return check_loaded(load_text(text, file), file, callees)


def rejected(file: str, error: DefinitionError) -> Checked:
    """The result for a file of which nothing can be read."""
    return Checked(file, tuple(Problem(**problem) for problem in error.problems), None)


def check_loaded(loaded: Loaded, file: str, callees: "Callees | None") -> Checked:
    """Check a workflow that was read; the rest is as for `check_file`."""
    problems = _first(loaded.problems)
    workflow = None
    if isinstance(loaded.node, YamlMapping):
        workflow = _check(loaded.node, loaded, Calls(file, callees), problems)
    elif not problems:
        problems.append(_not_a_mapping(loaded, file))
    problems = sorted(_each_once(problems), key=lambda each: (each.file != file, each.place))
    if any(problem.severity == "error" for problem in problems):
        workflow = None
    return Checked(file, tuple(problems), workflow, loaded.includes)


def _each_once(problems: Iterable[Problem]) -> Iterable[Problem]:
    """Without those that several roles have in common through an alias."""
    found: dict[tuple[Any, ...], Problem] = {}
    for each in problems:
        message = _OWNER.sub(r"\1", each.message)
        found.setdefault((each.file, each.place, each.severity, each.code, message), each)
    return found.values()


def _first(problems: Iterable[Problem]) -> list[Problem]:
    """Limit errors and warnings: suggestions take time, and no user reads thousands."""
    listed: dict[str, list[Problem]] = {"error": [], "warning": []}
    for problem in problems:
        some = listed[problem.severity]
        if len(some) < MAX_PROBLEMS:
            some.append(problem)
        elif len(some) == MAX_PROBLEMS:
            message = f"more than {MAX_PROBLEMS} {problem.severity}s"
            some.append(
                problem._replace(code="too-many-problems", message=message, hint="fix these first")
            )
        if len(listed["error"]) > MAX_PROBLEMS:
            break
    return [*listed["error"], *listed["warning"]]


def _not_a_mapping(loaded: Loaded, file: str) -> Problem:
    if loaded.node is None:
        return error_at(Place(file, 1, 1), "empty-file", "the file is empty", "`uwf workflow new`")
    return error_at(
        loaded.node.place, "wrong-type", "a workflow must be a mapping", "start with `name:`"
    )


def _check(
    root: YamlMapping, loaded: Loaded, calls: Calls, problems: list[Problem]
) -> dict[str, Any] | None:
    """The completed workflow; appends its errors to `problems`."""
    parts = parse_workflow(root, loaded.sources)
    workflow, found = check_structure(parts, calls.file)
    budget = calls.budget
    schemas: dict[str, RoleSchema] = {
        name: check_role_schema(role.frontmatter, budget)
        for name, role in parts.roles.items()
        if role.frontmatter is not None and role.workflow is None
    }
    schemas |= calls.schemas(parts, schemas)
    analyses = {name: schema.analysis for name, schema in schemas.items()}
    read = {name: schema.as_read for name, schema in schemas.items()}
    own, wrong_input = check_input(parts, schemas, budget)
    for stage in (
        found,
        wrong_input,
        (problem for schema in schemas.values() for problem in schema.problems),
        calls.problems,
        check_comments(root),
        check_suggestions(parts, calls.lacks),
        check_graph(parts, analyses),
        check_templates(parts, read, own),
        _fan_outs(parts, schemas, read, own),
        _programs(parts, read, own),
        calls.check_inputs(parts, {name: each.analysis for name, each in schemas.items()}, own),
    ):
        problems += _first(stage)
    guidance = _guidance(parts, calls)
    if guidance is not None:
        problems += _first(guidance.problems(parts))
    if workflow is not None:
        workflow["input"] = own
        if guidance is not None:
            guidance.complete(workflow["roles"])
    if workflow is not None and workflow["roles"].keys() <= schemas.keys():
        for name, role in workflow["roles"].items():
            role["frontmatter"] = schemas[name].schema
            role["workflow"] = calls.found.get(name)
        if parts.fan_outs and not any(each.severity == "error" for each in problems):
            from uwf_core.workflow.joins import complete_fan_outs  # not for every workflow

            complete_fan_outs(workflow, parts, schemas)
    return workflow


def _guidance(parts: ParsedWorkflow, calls: Calls) -> "GuidanceCheck | None":
    nodes = (role.node for role in parts.roles.values())
    if all(node is None or not node.values.keys() & {"skills", "memory"} for node in nodes):
        return None
    from uwf_core.workflow.guidance_check import GuidanceCheck  # not for every workflow
    from uwf_core.workflow.skills import Homes

    return GuidanceCheck(calls.file, Homes(*calls.homes))


def _fan_outs(
    parts: ParsedWorkflow,
    schemas: "Mapping[str, RoleSchema]",
    analyses: "Mapping[str, Analysis]",
    own: dict[str, Any] | None,
) -> Iterable[Problem]:
    if not parts.fan_outs:
        return ()
    from uwf_core.workflow.branch_templates import check_branch_templates
    from uwf_core.workflow.fan_out_check import check_fan_outs  # not for every workflow

    return (
        *check_fan_outs(parts, schemas, own),
        *check_branch_templates(parts, analyses, own),
    )


def _programs(
    parts: ParsedWorkflow, analyses: "Mapping[str, Analysis]", own: dict[str, Any] | None
) -> Iterable[Problem]:
    if all(kind_of(role) != "program" for role in parts.roles.values()):
        return ()
    from uwf_core.workflow.program_check import check_programs  # not for every workflow

    return check_programs(parts, analyses, own)
