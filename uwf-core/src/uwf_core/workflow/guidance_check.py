"""Check the skills and the memory that roles name: they exist, and have the right form and size."""

from collections.abc import Iterator
from typing import Any

from uwf_core.workflow.parsed import ParsedWorkflow
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
from uwf_core.workflow.yaml_nodes import YamlNode, YamlScalar, YamlSequence


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
