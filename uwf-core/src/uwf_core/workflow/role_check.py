"""Check what few roles have: programs, skills and memory."""

from collections.abc import Iterator, Sequence
from typing import Any

from uwf_core.fields.mismatch import nearest, suggestion
from uwf_core.workflow.outputs import Outputs
from uwf_core.workflow.parsed import ParsedEdge, ParsedWorkflow
from uwf_core.workflow.problem import Problem, error_at, warning_at
from uwf_core.workflow.skills import (
    MAX_BYTES,
    MAX_NAMED,
    OWN_FOLDER,
    SKILL_FILE,
    SKILL_FOLDERS,
    Homes,
    UnusableText,
    home_skill,
    is_skill_name,
    memory_file,
    project_of,
    project_skill,
    read_guidance,
    read_skill,
    skill_beside,
    skill_faults,
)
from uwf_core.workflow.template_check import Places, name_problems, read_template
from uwf_core.workflow.variants import Analysis
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlNode, YamlScalar, YamlSequence

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
            for each in argv.items[1:]:
                if isinstance(each, YamlScalar) and isinstance(each.value, str):
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


class GuidanceCheck:
    """The check of one file.

    Attributes:
        texts: by role, the texts of its skills that are beside the file.
    """

    def __init__(self, file: str, homes: Homes) -> None:
        self._file = file
        self._homes = homes
        self._project = project_of(file)
        self.texts: dict[str, dict[str, str]] = {}

    def problems(self, parsed: ParsedWorkflow) -> Iterator[Problem]:
        """Every error of the skills and memory of the roles."""
        for name, role in parsed.roles.items():
            values = {} if role.node is None else role.node.values
            for key, check in (("skills", self._skill), ("memory", self._memory)):
                items = _named(values.get(key))
                if len(items) > MAX_NAMED:
                    message = f"roles.{name}.{key} has {len(items)} entries"
                    yield error_at(values[key].place, "bad-value", message, f"at most {MAX_NAMED}")
                    continue
                for item in items:
                    yield from check(name, item)

    def complete(self, roles: dict[str, Any]) -> None:
        """Add the texts beside the file to the roles of the completed workflow."""
        for name, texts in self.texts.items():
            roles[name]["skillTexts"] = texts

    def _skill(self, role: str, item: YamlScalar) -> Iterator[Problem]:
        name, place = item.text, item.place
        if not is_skill_name(name):
            message = f"roles.{role}.skills: {name[:80]!r} is not the name of a skill"
            hint = "a name has lower-case letters, digits and single hyphens"
            yield error_at(place, "bad-name", message, hint)
            return
        beside = skill_beside(name, self._file)
        other = project_skill(name, self._project, self._homes) or home_skill(name, self._homes)
        if beside is None and other is None:
            message = f"roles.{role}.skills: unknown skill {name!r}"
            folders = ", ".join((*SKILL_FOLDERS, f"the {OWN_FOLDER} of the uwf home"))
            hint = f"searched {folders}, and {OWN_FOLDER}/ beside the file"
            yield error_at(place, "unknown-skill", message, hint)
        for found in filter(None, (beside, other)):
            try:
                text = read_skill(found)
            except (UnusableText, FileNotFoundError) as error:
                reason = "does not exist" if isinstance(error, FileNotFoundError) else error
                message = f"roles.{role}.skills: {found.file} {reason}"
                yield error_at(place, "invalid-skill", message, f"fix {SKILL_FILE}")
                continue
            for fault in skill_faults(text, name):
                message = f"roles.{role}.skills: {found.file} {fault}"
                yield error_at(place, "invalid-skill", message, f"fix {SKILL_FILE}")
            if found is beside:
                self.texts.setdefault(role, {})[name] = text

    def _memory(self, role: str, item: YamlScalar) -> Iterator[Problem]:
        where = f"roles.{role}.memory: {item.text[:200]!r}"
        try:
            found = memory_file(item.text, self._project, self._homes)
            _, is_cut = read_guidance(found)
        except FileNotFoundError:
            message = f"{where} does not exist in {self._project}"
            hint = "the role works without it until it exists"
            if item.text.startswith("~/"):
                message = f"{where} does not exist"
            yield warning_at(item.place, "missing-memory", message, hint)
            return
        except UnusableText as error:
            hint = "name a text file by its path from the folder of the thread, or by ~/…"
            yield error_at(item.place, "invalid-memory", f"{where} {error}", hint)
            return
        if is_cut:
            message = f"{where} is larger than {MAX_BYTES // 1024} KB"
            yield error_at(item.place, "invalid-memory", message, "shorten it, or split it")


def _named(node: YamlNode | None) -> list[YamlScalar]:
    """The entries of a list that are text; others are errors of the structure."""
    items = node.items if isinstance(node, YamlSequence) else []
    texts = (each for each in items if isinstance(each, YamlScalar) and each.text.strip())
    return [each for each in texts if isinstance(each.value, str) and each.tag is None]
