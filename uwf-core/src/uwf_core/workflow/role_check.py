"""Check the roles of a workflow: their schemas, that of the typed input, and their programs."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from uwf_core.cas.bounds import Budget
from uwf_core.cas.codec import Keys
from uwf_core.cas.hashing import CLAIMS, FILE_FORMAT
from uwf_core.cas.inline import inline_refs, written_path
from uwf_core.cas.schemas import schema_problems, subschemas
from uwf_core.fields.mismatch import nearest, short, suggestion
from uwf_core.workflow.lattice import as_list, as_mapping, properties_of
from uwf_core.workflow.outputs import Outputs
from uwf_core.workflow.parsed import ParsedEdge, ParsedRole, ParsedWorkflow
from uwf_core.workflow.template_check import Places, name_problems, read_template
from uwf_core.workflow.variants import (
    JOINED,
    PLACE,
    STATUS,
    Analysis,
    Fault,
    analyse,
    keyword_faults,
    objects_of,
)
from uwf_core.yaml.nodes import YamlMapping, YamlScalar, YamlSequence, is_bad_number, to_value
from uwf_core.yaml.problem import Problem, error_at
from uwf_core.yaml.shape import key_hint, place_at

FORMATS = (
    *("date", "date-time", "time", "duration", "email", "idn-email", "hostname", "idn-hostname"),
    *("ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference", "uri-template", "uuid"),
    *("json-pointer", "relative-json-pointer", "regex", *CLAIMS),
    FILE_FORMAT,
)
"""The formats of JSON Schema, and those of a reference and of a delivered file. An output must
have them."""


_UNDELIVERED = ("not", "contains", "propertyNames", "if")
"""Keywords whose schemas only test a value."""


class RoleSchema(NamedTuple):
    """`schema` is self-contained (local references inlined); `analysis` has its statuses.
    `is_apart`: a called thread delivers it, which works in a separate worktree.
    """

    schema: Any
    analysis: Analysis
    problems: list[Problem]
    is_apart: bool = False

    @property
    def as_read(self) -> Analysis:
        """The analysis with the fields that templates can read besides."""
        read = self.analysis
        if not self.is_apart:
            return read
        found = [
            each._replace(
                properties={**each.properties, **PLACE}, required=each.required | {*PLACE}
            )
            for each in read.variants
        ]
        return read._replace(variants=tuple(found))


NO_SCHEMA = RoleSchema({}, Analysis((), ()), [])
"""Of a role whose schema is unknown because of another error."""


class SchemaSource:
    """A schema as written, which knows the place of each part of the inlined schema."""

    def __init__(self, node: YamlMapping) -> None:
        self.node = node
        self.written = _storable(to_value(node))

    def problem(self, path: Keys, code: str, message: str, hint: str | None = None) -> Problem:
        """An error at a path of the inlined schema."""
        place = place_at(self.node, written_path(self.written, path))
        return error_at(place, code, message, hint or "")

    def checked(self, budget: Budget) -> tuple[Any, list[Problem]]:
        """The inlined schema, and why it cannot be stored."""
        inlined, node = inline_refs(self.written), self.node
        problems = [
            error_at(place_at(node, fault.path), fault.code, fault.message, fault.hint)
            for fault in inlined.faults
        ]
        for invalid in schema_problems(inlined.schema, budget=budget):
            where = f"{invalid.path}: " if invalid.path else ""
            message = where + invalid.message
            hint = key_hint(node, written_path(self.written, invalid.keys), ()) or invalid.hint
            problems.append(self.problem(invalid.keys, "invalid-schema", message, hint))
        if not budget.is_spent:
            problems += [self.problem(*fault) for fault in _wrong_formats(inlined.schema, ())]
        return inlined.schema, problems


def check_role_schema(node: YamlMapping, budget: Budget) -> RoleSchema:
    """Read the frontmatter at `node`, and append its errors. If the budget
    of the file is spent, the schema is not analysed.
    """
    source = SchemaSource(node)
    schema, problems = source.checked(budget)
    analysis = Analysis((), ()) if budget.is_spent else analyse(schema)
    problems += [source.problem(*fault) for fault in _joint_statuses(schema, analysis)]
    faults = (*keyword_faults(source.written), *analysis.faults, *analysis.duplicates)
    problems += [source.problem(*fault) for fault in faults]
    problems += [
        source.problem(*warning)._replace(severity="warning") for warning in analysis.warnings
    ]
    return RoleSchema(schema, analysis, list(dict.fromkeys(problems)))


def _joint_statuses(schema: Any, analysis: Analysis) -> Iterator[Fault]:
    """Statuses that only the joint result of branches has."""
    if any(each.status in JOINED for each in analysis.variants):
        for path, each in objects_of(schema):
            status = as_mapping(properties_of(each).get(STATUS)).get("const")
            if status in JOINED:
                where, hint = (*path, "properties", STATUS, "const"), "use another status"
                message = f"only the joint result of branches has the status {status}"
                yield Fault(where, "reserved-status", message, hint)


def file_places(schema: Any, path: Keys = ()) -> Iterator[Keys]:
    """Where a schema declares a text as the path of a file."""
    if isinstance(schema, dict) and schema.get("format") == FILE_FORMAT:
        yield (*path, "format")
    for where, inner in subschemas(schema):
        yield from file_places(inner, (*path, *where))


def _wrong_formats(schema: Any, path: Keys) -> Iterator[Fault]:
    """Formats that nothing would enforce."""
    given = schema.get("format") if isinstance(schema, dict) else None
    if isinstance(given, str) and given not in FORMATS:
        hint = suggestion(given, FORMATS)
        yield Fault((*path, "format"), "unknown-format", f"unknown format {short(given)!r}", hint)
    elif given == FILE_FORMAT and "string" not in _listed(schema.get("type", "string")):
        message = "only a text can be the path of a file to deliver"
        yield Fault((*path, "format"), "file-field", message, "write `type: string`")
    for where, inner in subschemas(schema):
        yield from _wrong_formats(inner, (*path, *where))
        for place in file_places(inner) if where[0] in _UNDELIVERED else ():
            message = f"a path below `{where[0]}` delivers no file"
            hint = "write `format: file` where the field is declared"
            yield Fault((*path, *where, *place), "file-field", message, hint)


def _listed(types: Any) -> list[Any]:
    return types if isinstance(types, list) else [types]


def _storable(value: Any) -> Any:
    """`value` with 0 for numbers that cannot be stored, which are a separate error."""
    if isinstance(value, dict):
        return {key: _storable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_storable(each) for each in value]
    return 0 if is_bad_number(value) else value


def check_input(
    parsed: ParsedWorkflow, budget: Budget
) -> tuple[dict[str, Any] | None, list[Problem]]:
    """The schema of the input without references, None without one, and its errors."""
    if parsed.input is None:
        return None, []
    source = SchemaSource(parsed.input)
    schema, problems = source.checked(budget)
    types = schema.get("type", "object")
    if "object" not in (as_list(types) or [types]):
        message = f"the type {types!r} does not allow a mapping, but the input of a workflow is one"
        problems.append(source.problem(("type",), "not-an-object", message, "write `type: object`"))
    for place in file_places(schema):
        message = "in the input, `format: file` is only a path; of outputs, the files are stored"
        hint = "remove `format: file`"
        warning = source.problem(place, "file-field", message, hint)
        problems.append(warning._replace(severity="warning"))
    return schema, list(dict.fromkeys(problems))


def check_reserved(outputs: Outputs) -> Iterator[Problem]:
    """Every field of a role that a template could not read, since its name is reserved."""
    for field, meaning in outputs.reserved.items():
        for name, role in outputs.parsed.roles.items():
            if name in outputs.schemas:
                message = f"the role {name!r} has a field {field!r}, which is {meaning}"
                yield from _taken(field, role, outputs.schemas[name], message)


def _taken(field: str, role: ParsedRole, found: "RoleSchema", message: str) -> Iterator[Problem]:
    hint = "rename the field"
    if role.workflow is not None:
        if any(field in variant.properties for variant in found.analysis.variants):
            yield error_at(role.workflow.place, "reserved-field", message, hint)
    elif role.frontmatter is not None:
        objects = objects_of(found.schema)
        paths = [path for path, each in objects if field in properties_of(each)]
        if paths:
            source = SchemaSource(role.frontmatter)
            for path in paths:
                yield source.problem((*path, "properties", field), "reserved-field", message, hint)


# -- programs --------------------------------------------------------------------------------------


_HIGHEST_CODE = 255


def check_programs(outputs: Outputs) -> Iterator[Problem]:
    """Every error in the programs of roles."""
    places = Places(outputs.parsed.sources)
    for name, role in outputs.parsed.roles.items():
        program = None if role.node is None else role.node.values.get("program")
        if not isinstance(program, YamlMapping):
            continue
        argv, env = program.values.get("argv"), program.values.get("env")
        if isinstance(argv, YamlSequence):
            yield from _program(name, argv)
            edges = outputs.leading_to(name)
            for each in role.arguments:
                yield from _argument(each, places, outputs, edges)
        if isinstance(env, YamlMapping):
            yield from _variables(name, env)
        yield from _statuses(name, program, outputs.analysis(name))


def _program(name: str, argv: YamlSequence) -> Iterator[Problem]:
    """The first element: the program itself is fixed, whatever a role delivers."""
    place, first = f"roles.{name}.program.argv", argv.items[0] if argv.items else None
    if first is None:
        hint = "write the program and its arguments: [make, test]"
        yield error_at(argv.place, "program-name", f"{place} is empty", hint)
    elif isinstance(first, YamlScalar) and not first.text.strip():
        yield error_at(first.place, "program-name", f"{place}[0] is blank", "name the program")
    elif isinstance(first, YamlScalar) and "{{" in first.text:
        message = f"{place}[0] holds a template; an output must not choose the program"
        hint = "write the name of the program, and the template as an argument"
        yield error_at(first.place, "program-name", message, hint)


def _argument(
    scalar: YamlScalar, places: Places, outputs: Outputs, edges: Sequence[ParsedEdge]
) -> Iterator[Problem]:
    template = read_template(scalar, places)
    if isinstance(template, Problem):
        yield template
    else:
        yield from name_problems(template, scalar, places, outputs, edges, is_argument=True)


def _variables(name: str, env: YamlMapping) -> Iterator[Problem]:
    for variable, key in env.keys.items():
        if not (variable.isascii() and variable.isidentifier()):
            message = f"roles.{name}.program.env: {variable!r} is not the name of a variable"
            yield error_at(key.place, "bad-name", message, "use letters, digits and _")


def _statuses(name: str, program: YamlMapping, analysis: Analysis | None) -> Iterator[Problem]:
    """The exit codes, and their statuses, which must be those of the schema."""
    statuses = program.values.get("statuses")
    if not isinstance(statuses, YamlMapping):
        return
    where = f"roles.{name}.program.statuses"
    for code, key in statuses.keys.items():
        if not _is_exit_code(code):
            message = f"{where}: {code!r} is not an exit code"
            yield error_at(key.place, "exit-code", message, f"0 to {_HIGHEST_CODE}")
    if analysis is None or not analysis.complete:
        return
    known = [each.status for each in analysis.variants]
    given = [each for each in statuses.values.values() if isinstance(each, YamlScalar)]
    for each in given:
        if each.text not in known:
            message = f"{where}: the schema has no status {each.text!r}"
            hint = suggestion(each.text, known)
            yield error_at(each.place, "program-status", message, hint)
    meant = {each.text if each.text in known else nearest(each.text, known) for each in given}
    for status in known:
        if status not in meant:  # a misspelt one is one error
            message = f"{where}: no exit code has the status {status!r} of the schema"
            hint = "add its exit code, or remove the status from the schema and the graph"
            yield error_at(program.keys["statuses"].place, "program-status", message, hint)


def _is_exit_code(text: str) -> bool:
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(_HIGHEST_CODE))):
        return False
    return text == str(int(text)) and int(text) <= _HIGHEST_CODE
