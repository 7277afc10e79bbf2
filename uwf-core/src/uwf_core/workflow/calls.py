"""The roles of a file that call workflows: each with the result type of its workflow."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.cas.bounds import Budget
from uwf_core.workflow.definition import SELF, START
from uwf_core.workflow.input_types import InputWork, input_faults, output_schema
from uwf_core.workflow.parsed import ParsedEdge, ParsedRole, ParsedWorkflow, is_worktree
from uwf_core.workflow.problem import Problem, error_at, warning_at
from uwf_core.workflow.result_type import Edges, result_schema
from uwf_core.workflow.role_schema import RoleSchema
from uwf_core.workflow.variants import Analysis, analyse, variant_of

if TYPE_CHECKING:
    from uwf_core.workflow.callees import Callees
    from uwf_core.workflow.joins import JointWork


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
        self._joint: JointWork | None = None
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
        result = result_schema(
            _edges(parsed), {name: each.analysis.variants for name, each in known.items()}
        )
        is_sure = all(each.analysis.variants for each in known.values())
        for name, role in calling.items():
            if _is_self(role):
                self.found[name] = SELF
                found = self._typed(role, result, is_sure=is_sure)
                schemas[name] = found._replace(is_apart=is_worktree(parsed.root))
        return schemas | self._joined(parsed, {**others, **schemas}, of_self=True)

    def check_inputs(
        self,
        parsed: ParsedWorkflow,
        analyses: Mapping[str, Analysis],
        own: Mapping[str, Any] | None,
    ) -> Iterator[Problem]:
        """Every edge whose output does not fill the input of the workflow that it leads to. At
        $START the input of the caller (its schema is `own`) is used as the output.
        """
        if own is not None:
            of_self = {name: own for name, word in self.found.items() if word == SELF}
            self.inputs |= of_self
        work = InputWork()
        for edge in parsed.edges() if self.inputs else ():
            wanted = None if edge.role is None else self.inputs.get(edge.role.text)
            if wanted is not None:
                yield from _input_problems(edge, analyses.get(edge.source), wanted, own, work)
        if self.inputs and parsed.fan_outs:
            from uwf_core.workflow.branch_templates import check_branch_inputs

            yield from check_branch_inputs(parsed, analyses, self.inputs, work)

    def _joined(
        self, parsed: ParsedWorkflow, schemas: Mapping[str, RoleSchema], *, of_self: bool
    ) -> dict[str, RoleSchema]:
        if not parsed.fan_outs:
            return {}
        from uwf_core.workflow.joins import JointWork, join_schemas  # not for every workflow

        if self._joint is None:
            self._joint = JointWork() if self._callees is None else self._callees.joint()
        return join_schemas(parsed, schemas, self._joint, of_self=of_self)

    def _called(self, name: str, role: ParsedRole) -> RoleSchema:
        """The result type of another workflow, empty after an error."""
        from uwf_core.workflow.callees import CalleeError

        assert role.workflow is not None
        if self._callees is None:
            self._report(role, "unknown-workflow", "no workflows are known here")
            return _EMPTY
        try:
            callee = self._callees.find(role.workflow.text.strip(), self.file)
        except CalleeError as error:
            self._report(role, error.code, error.message, error.hint)
            self.problems += error.problems
            return _EMPTY
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
            return _EMPTY
        analysis = analyse(result)
        for fault in analysis.faults:
            message = f"the result of the workflow {role.workflow.text!r}: {fault.message}"
            self._report(role, fault.code, message, fault.hint)
        return RoleSchema(result, analysis, [])

    def _report(self, role: ParsedRole, code: str, message: str, hint: str = "") -> None:
        assert role.workflow is not None
        self.problems.append(error_at(role.workflow.place, code, message, hint))


def _input_problems(
    edge: ParsedEdge,
    analysis: Analysis | None,
    wanted: Any,
    own: Mapping[str, Any] | None,
    work: InputWork,
) -> Iterator[Problem]:

    assert edge.role is not None
    variant = variant_of(analysis, edge.status)
    if edge.source != START and variant is None:
        return  # another error
    given = own if edge.source == START and own is not None else output_schema(variant)
    for field, message, is_certain in input_faults(given, wanted, work):
        problem = error_at if is_certain else warning_at
        yield problem(
            edge.role.place,
            "input-mismatch",
            f"the input of {edge.role.text!r} has the field {field!r}, which {message} "
            f"({edge.source}.{edge.status})",
            "change the output of the role, or the `input` of the called workflow",
        )


_EMPTY = RoleSchema({}, Analysis((), ()), [])


def _is_self(role: ParsedRole) -> bool:
    return role.workflow is not None and role.workflow.text.strip() == SELF


def _edges(parsed: ParsedWorkflow) -> Edges:
    for edge in parsed.edges():
        if edge.role is not None:
            yield edge.source, edge.status, edge.role.text
