"""Stage 2, check: validate a workflow file and report every error in one run."""

import gc
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.cas.bounds import MAX_PROBLEMS, Budget
from uwf_core.errors import DefinitionError
from uwf_core.fields.records import write_record
from uwf_core.workflow.deadlines import check_deadlines
from uwf_core.workflow.definition import END, FAILED, SELF
from uwf_core.workflow.failed import failed_results
from uwf_core.workflow.failed_check import check_failures
from uwf_core.workflow.fan_out import MAX_JOINT
from uwf_core.workflow.fields import MOST_COMPARED, WorkLeft, input_faults, is_mapping
from uwf_core.workflow.graph_check import check_graph
from uwf_core.workflow.load import Loaded, load_file, load_text
from uwf_core.workflow.outputs import Outputs
from uwf_core.workflow.parsed import (
    ParsedEdge,
    ParsedRole,
    ParsedWorkflow,
    is_worktree,
    parse_workflow,
)
from uwf_core.workflow.role_check import (
    NO_SCHEMA,
    RoleSchema,
    check_input,
    check_programs,
    check_reserved,
    check_role_schema,
)
from uwf_core.workflow.structure import check_structure, check_suggestions
from uwf_core.workflow.template_check import check_templates
from uwf_core.workflow.variants import Edges, analyse, result_schema
from uwf_core.yaml.nodes import YamlMapping
from uwf_core.yaml.problem import Place, Problem, as_definition_error, error_at, warning_at
from uwf_core.yaml.quirks import check_comments

if TYPE_CHECKING:
    from uwf_core.workflow.callees import Callees
    from uwf_core.workflow.skills import GuidanceCheck


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
        values: how many values were read.
    """

    file: str
    problems: tuple[Problem, ...]
    workflow: dict[str, Any] | None
    includes: bool = False
    values: int = 0

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


@contextmanager
def without_collection() -> Iterator[None]:
    """A check makes many objects and no cycles; of a large file, the garbage collector would look
    at all of them again and again, which takes a third of the time. In a process of several threads
    it stays on: they could not agree who turns it on again.
    """
    turns_off = gc.isenabled() and threading.active_count() == 1
    if turns_off:
        gc.disable()
    try:
        yield
    finally:
        if turns_off:
            gc.enable()


@without_collection()
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


@without_collection()
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
    return Checked(file, tuple(problems), workflow, loaded.includes, loaded.values)


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
    root: YamlMapping, loaded: Loaded, calls: "Calls", problems: list[Problem]
) -> dict[str, Any] | None:
    """The completed workflow, None if there is an error; appends its errors to `problems`."""
    parts = parse_workflow(root, loaded.sources)
    written, found = check_structure(parts, calls.file)
    budget = calls.budget
    schemas: dict[str, RoleSchema] = {
        name: check_role_schema(role.frontmatter, budget)
        for name, role in parts.roles.items()
        if role.frontmatter is not None and role.workflow is None
    }
    schemas |= calls.schemas(parts, schemas)
    own, wrong_input = check_input(parts, budget)
    outputs, read = Outputs(parts, schemas, own), Outputs(parts, schemas, own, is_read=True)
    for stage in (
        found,
        wrong_input,
        (problem for schema in schemas.values() for problem in schema.problems),
        calls.problems,
        check_comments(root),
        check_suggestions(parts, calls.lacks),
        check_graph(outputs),
        check_deadlines(parts),
        check_reserved(read),
        check_failures(parts, outputs.statuses),
        check_templates(read),
        _fan_outs(outputs),
        check_programs(read),
        calls.check_inputs(outputs),
    ):
        problems += _first(stage)
    guidance = _guidance(parts, calls)
    if guidance is not None:
        problems += _first(guidance.problems(parts))
    if written is None or any(each.severity == "error" for each in problems):
        return None
    workflow: dict[str, Any] = write_record(written)
    workflow["input"] = own
    if guidance is not None:
        guidance.complete(workflow["roles"])
    for name, role in workflow["roles"].items():
        role["frontmatter"] = schemas[name].schema
        role["workflow"] = calls.found.get(name)
    if parts.fan_outs:
        from uwf_core.workflow.fan_out_check import complete_fan_outs  # not for every workflow

        complete_fan_outs(workflow, parts, schemas)
    return workflow


def _guidance(parts: ParsedWorkflow, calls: "Calls") -> "GuidanceCheck | None":
    nodes = (role.node for role in parts.roles.values())
    if all(node is None or not node.values.keys() & {"skills", "memory"} for node in nodes):
        return None
    from uwf_core.workflow.skills import GuidanceCheck, Homes  # not for every workflow

    return GuidanceCheck(calls.file, Homes(*calls.homes))


def _fan_outs(outputs: Outputs) -> Iterable[Problem]:
    if not outputs.parsed.fan_outs:
        return ()
    from uwf_core.workflow.fan_out_check import check_fan_outs  # not for every workflow

    return check_fan_outs(outputs)


class Calls:
    """The calls in one file.

    Attributes:
        file: the file.
        found: by role, what its node stores of the workflow: a reference, `$SELF`, or the
            completed mapping of a file that is not published yet.
        inputs: by role, the schema of the typed input of a workflow that has one.
        problems: the errors of the calls, and those of the called files.
        lacks, homes: as of `Callees`, if there are any.
        budget: of the schemas of the file.
    """

    def __init__(self, file: str, callees: "Callees | None") -> None:
        self.file = file
        self._callees = callees
        self.lacks = None if callees is None else callees.lacks
        self.homes = ("", "") if callees is None else callees.homes
        self.budget = Budget() if callees is None else callees.budget()
        self._joint = WorkLeft(MAX_JOINT) if callees is None else callees.joint()
        self.found: dict[str, Any] = {}
        self.inputs: dict[str, Mapping[str, Any]] = {}
        self.problems: list[Problem] = []

    def schemas(
        self, parsed: ParsedWorkflow, others: Mapping[str, RoleSchema]
    ) -> dict[str, RoleSchema]:
        """The result types of the roles that call workflows, and of the fan-outs; `others` are the
        other roles.
        """
        calling = {name: role for name, role in parsed.roles.items() if role.workflow is not None}
        schemas = {
            name: self._called(name, role) for name, role in calling.items() if not _is_self(role)
        }
        known = {**others, **schemas}
        joined = self._joined(parsed, known, of_self=False)
        known |= joined
        schemas |= joined
        after = failed_results(each.ends_as.text for each in parsed.edges() if each.ends_as)
        outputs = {name: each.analysis.variants for name, each in known.items()}
        result = result_schema(_edges(parsed), {**outputs, **after})
        is_sure = all(each.analysis.variants for each in known.values())
        for name, role in calling.items():
            if _is_self(role):
                self.found[name] = SELF
                found = self._typed(role, result, is_sure=is_sure)
                schemas[name] = found._replace(is_apart=is_worktree(parsed.root))
        return schemas | self._joined(parsed, {**others, **schemas}, of_self=True)

    def check_inputs(self, outputs: Outputs) -> Iterator[Problem]:
        """Every edge or branch that does not fill the input of the workflow that it leads to. At
        $START the input of the caller is used as the output.
        """
        if outputs.own is not None:
            of_self = {name: outputs.own for name, word in self.found.items() if word == SELF}
            self.inputs |= of_self
        work = WorkLeft(MOST_COMPARED)
        for edge in outputs.edges() if self.inputs else ():
            wanted = None if edge.role is None else self.inputs.get(edge.role.text)
            if wanted is not None:
                yield from _input_problems(edge, outputs.given(edge), wanted, work)

    def _joined(
        self, parsed: ParsedWorkflow, schemas: Mapping[str, RoleSchema], *, of_self: bool
    ) -> dict[str, RoleSchema]:
        if not parsed.fan_outs:
            return {}
        from uwf_core.workflow.fan_out_check import join_schemas  # not for every workflow

        return join_schemas(Outputs(parsed, schemas), self._joint, of_self=of_self)

    def _called(self, name: str, role: ParsedRole) -> RoleSchema:
        """The result type of another workflow, empty after an error."""
        from uwf_core.workflow.callees import CalleeError

        assert role.workflow is not None
        if self._callees is None:
            self._report(role, "unknown-workflow", "no workflows are known here")
            return NO_SCHEMA
        try:
            callee = self._callees.find(role.workflow.text.strip(), self.file)
        except CalleeError as error:
            self._report(role, error.code, error.message, error.hint)
            self.problems += error.problems
            return NO_SCHEMA
        self.found[name] = callee.workflow
        if callee.input is not None:
            self.inputs[name] = callee.input
        found = self._typed(role, callee.result, is_sure=True)
        return found._replace(is_apart=callee.is_apart)

    def _typed(self, role: ParsedRole, result: Any, *, is_sure: bool) -> RoleSchema:
        assert role.workflow is not None
        if result is None:
            if is_sure:
                message = f"the workflow {role.workflow.text!r} has no edge to $END"
                self._report(role, "no-result", message, "a call of it would never return")
            return NO_SCHEMA
        analysis = analyse(result)
        for fault in analysis.faults:
            message = f"the result of the workflow {role.workflow.text!r}: {fault.message}"
            self._report(role, fault.code, message, fault.hint)
        return RoleSchema(result, analysis, [])

    def _report(self, role: ParsedRole, code: str, message: str, hint: str = "") -> None:
        assert role.workflow is not None
        self.problems.append(error_at(role.workflow.place, code, message, hint))


def _input_problems(edge: ParsedEdge, given: Any, wanted: Any, work: WorkLeft) -> Iterator[Problem]:
    assert edge.role is not None
    where, whose = f"({edge.place})", f"the input of {edge.role.text!r}"
    hint = "change the output of the role, or the `input` of the called workflow"
    if given is None:
        return  # another error
    if not is_mapping(given):
        message = f"{whose} is an item, and not every item is a mapping {where}"
        yield error_at(edge.role.place, "input-mismatch", message, hint)
        return
    for field, message, is_certain in input_faults(given, wanted, work):
        problem = error_at if is_certain else warning_at
        text = f"{whose} has the field {field!r}, which {message} {where}"
        yield problem(edge.role.place, "input-mismatch", text, hint)


def _is_self(role: ParsedRole) -> bool:
    return role.workflow is not None and role.workflow.text.strip() == SELF


def _edges(parsed: ParsedWorkflow) -> Edges:
    for edge in parsed.edges():
        if edge.role is not None:
            yield edge.source, edge.status, edge.role.text
        if edge.ends_as is not None:
            yield FAILED, edge.ends_as.text, END
