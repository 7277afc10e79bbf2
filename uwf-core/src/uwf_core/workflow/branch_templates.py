"""Check the templates and inputs of branches.

A name is looked up in the item of the list first, then in the output that took the edge.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from uwf_core.cas.bounds import MAX_PROBLEMS
from uwf_core.fields.mismatch import suggestion
from uwf_core.workflow.alternatives import alternatives, as_mapping
from uwf_core.workflow.blank_prompt import BlankWork
from uwf_core.workflow.fan_out import INDEX
from uwf_core.workflow.fields import (
    Fields,
    InputWork,
    Presence,
    ValueShape,
    input_faults,
    item_shape,
    output_schema,
)
from uwf_core.workflow.joins import list_type
from uwf_core.workflow.parsed import ParsedBranch, ParsedFanOut, ParsedWorkflow
from uwf_core.workflow.problem import Place, Problem, error_at, warning_at
from uwf_core.workflow.template import TemplateName
from uwf_core.workflow.template_check import (
    Places,
    Prompt,
    blank_problems,
    dotted,
    if_present,
    input_field,
    placed_names,
    read_template,
)
from uwf_core.workflow.variants import BODY, INPUT, Analysis, Variant, variant_of
from uwf_core.workflow.yaml_nodes import types_of


class BranchData:
    """What the templates of a fan-out's branches can use.

    Attributes:
        fan_out: it. variant: the output that took the edge.
        items: the schemas of the item of a list; None for `parallel`.
        input_schema: of the typed input, or None.
        fields: the names.
    """

    def __init__(
        self,
        fan_out: ParsedFanOut,
        variant: Variant,
        items: ValueShape | None,
        input_schema: dict[str, Any] | None,
    ) -> None:
        self.fan_out = fan_out
        self.variant = variant
        self.items = items
        self.input_schema = input_schema
        index = {INDEX: {"type": "integer"}}
        inner = () if items is None else (items,)
        self.fields = Fields(variant, input_schema, index, inner)

    def names(self) -> list[str]:
        """The names at the top, for suggestions."""
        of_items = [
            name for each in self.items or () for name in as_mapping(each.get("properties"))
        ]
        return [*dict.fromkeys((*of_items, *self.variant.properties, BODY, INDEX))]


def branch_data(
    fan_out: ParsedFanOut,
    analyses: Mapping[str, Analysis],
    input_schema: dict[str, Any] | None,
) -> BranchData | None:
    """What the branches of a fan-out can use; None if it is unknown because of another error."""
    variant = variant_of(analyses.get(fan_out.source), fan_out.status)
    if variant is None:
        return None
    items = None
    if fan_out.is_list:
        listed = list_type(fan_out, variant)
        if listed is None or not listed.is_typed:
            return None
        items = item_shape(listed.alternatives)
    return BranchData(fan_out, variant, items, input_schema)


def check_branch_templates(
    parsed: ParsedWorkflow,
    analyses: Mapping[str, Analysis],
    input_schema: dict[str, Any] | None = None,
) -> Iterator[Problem]:
    """Every error in the prompts and locations of branches."""
    places, work = Places(parsed.sources), BlankWork()
    for fan_out in parsed.fan_outs.values():
        data = branch_data(fan_out, analyses, input_schema)
        for branch in fan_out.branches:
            yield from _of_branch(branch, fan_out, data, places, work)


def _of_branch(
    branch: ParsedBranch,
    fan_out: ParsedFanOut,
    data: BranchData | None,
    places: Places,
    work: BlankWork,
) -> Iterator[Problem]:
    for scalar in (branch.prompt, branch.location):
        if scalar is None:
            continue
        template = read_template(scalar, places)
        if isinstance(template, Problem):
            yield template
            continue
        names = placed_names(template, scalar, places)
        fields = None if data is None else data.fields
        found = () if data is None else (p for each in names for p in _name(*each, data))
        problems = [*islice(found, MAX_PROBLEMS + 1)]  # the check lists no more
        yield from problems
        if scalar is branch.prompt:
            named = "" if branch.name is None else f".parallel.{branch.name}"
            where = f"the prompt of {fan_out.place}{named}"
            yield from blank_problems(Prompt(where, scalar, template, fields, work), problems)


def _name(name: TemplateName, place: Place, data: BranchData) -> Iterator[Problem]:
    presence = data.fields.presence(name)
    if data.input_schema is not None and name.path[:1] == (INPUT,):
        yield from input_field(name, place, presence, data.input_schema)
    elif presence is Presence.NEVER:
        known = data.names()
        hint = "" if name.path[0] in known else suggestion(name.path[0], known)
        if data.input_schema is None and name.path[0] == INPUT:
            hint = "declare the typed input with `input:` at the top"
        message = f"no field {dotted(name)!r} in {_where(data)}"
        yield error_at(place, "template-unknown-field", message, hint)
    elif presence < Presence.ALWAYS and name.kind == "variable":
        reason = "can be null" if presence is Presence.NULLABLE else "is not required"
        message = f"{dotted(name)!r} may render empty: it {reason} in {_where(data)}"
        yield warning_at(place, "template-optional-field", message, if_present(name, presence))


def _where(data: BranchData) -> str:
    output = f"the status {data.fan_out.status!r} of {data.fan_out.source!r}"
    if data.items is None or data.fan_out.for_each is None:
        return output
    return f"the items of {data.fan_out.for_each.text!r} or {output}"


def check_branch_inputs(
    parsed: ParsedWorkflow,
    analyses: Mapping[str, Analysis],
    inputs: Mapping[str, Any],
    work: InputWork,
) -> Iterator[Problem]:
    """Every branch whose item, or output for `parallel`, does not fill the typed input of the
    workflow that it calls. `inputs` has the schema of these by role.
    """
    for fan_out in parsed.fan_outs.values():
        data = branch_data(fan_out, analyses, None)
        for branch in fan_out.branches:
            wanted = None if branch.role is None else inputs.get(branch.role.text)
            if wanted is not None and data is not None:
                yield from _input(branch, data, wanted, work)


def _input(
    branch: ParsedBranch, data: BranchData, wanted: Any, work: InputWork
) -> Iterator[Problem]:
    assert branch.role is not None
    where, hint = data.fan_out.place, "change the output, or the `input` of the called workflow"
    given: Any = output_schema(data.variant)
    if data.items is not None:
        given = {"anyOf": [*data.items]}
        if not all(_is_mapping(each) for each in data.items):
            message = f"the items that {where} gives to {branch.role.text!r} as its input are not "
            yield error_at(branch.role.place, "input-mismatch", message + "mappings", hint)
            return
    for field, message, is_certain in input_faults(given, wanted, work):
        problem = error_at if is_certain else warning_at
        text = f"the input of {branch.role.text!r} has the field {field!r}, which {message}"
        yield problem(branch.role.place, "input-mismatch", f"{text} ({where})", hint)


def _is_mapping(schema: Mapping[str, Any]) -> bool:
    return "object" in types_of(schema) and bool(alternatives(schema))
