"""Skills and memory of roles, and the rules of a project: where these files are, and their text.

A skill is a folder with a SKILL.md, in the format of Agent Skills. It is searched in the project,
then in the home, and last beside the file of the workflow, whose text the workflow node keeps.
Links are followed only within the folder that a file was found in.
"""

# Loaded by steps of roles that have any: pathlib is not imported for that.
# ruff: noqa: PTH100, PTH118, PTH119, PTH120

import os
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from uwf_core.errors import DefinitionError
from uwf_core.process.folders import climb
from uwf_core.process.path_walk import PathOutside, read_regular
from uwf_core.workflow.discover import FOLDERS
from uwf_core.workflow.parsed import ParsedWorkflow
from uwf_core.yaml.nodes import YamlNode, YamlScalar, YamlSequence
from uwf_core.yaml.problem import Problem, error_at, warning_at

SKILL_FILE: Final = "SKILL.md"
SKILL_FOLDERS: Final = (".agents/skills", ".claude/skills")
"""The folders of skills in a project and in the user's home."""
OWN_FOLDER: Final = "skills"
"""The folder of skills in the home of uwf, and beside the file of a workflow."""
RULES_FILE: Final = "AGENTS.md"
MAX_BYTES: Final = 64 * 1024
MAX_NAMED: Final = 16
"""The most skills, and the most files of memory, of one role."""

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LONGEST_NAME, _LONGEST_DESCRIPTION = 64, 1024
_ENTRY = re.compile(r"^([A-Za-z_][\w-]*):(?=\s)(.*(?:\n[ \t].*)*)", re.MULTILINE)
"""A field at the margin, with its continuation lines."""
_FRONTMATTER = re.compile(r"---[ \t]*\r?\n(.*?\n)?---[ \t]*(\r?\n|\Z)", re.DOTALL)


class GuidanceFile(NamedTuple):
    """A file: the folder that no link may leave, and the path from there."""

    root: str
    path: str

    @property
    def file(self) -> str:
        """Its path."""
        return os.path.join(self.root, self.path)


class Homes(NamedTuple):
    """The home of uwf, and that of the user; "" if there is none."""

    uwf: str
    user: str


class UnusableText(Exception):
    """A file that cannot be used; the text is why."""


def is_skill_name(name: str) -> bool:
    """Whether Agent Skills allow this name."""
    return len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) is not None


def project_skill(name: str, folder: str, homes: Homes) -> GuidanceFile | None:
    """The skill of the project around a folder: the nearest one upwards, below the home."""
    paths = [f"{each}/{name}/{SKILL_FILE}" for each in SKILL_FOLDERS]
    folders = (each for each in climb(folder) if each != homes.user)
    return _first(GuidanceFile(each, path) for each in folders for path in paths)


def home_skill(name: str, homes: Homes) -> GuidanceFile | None:
    """The skill of the user."""
    places = [(homes.uwf, OWN_FOLDER), *((homes.user, each) for each in SKILL_FOLDERS)]
    return _first(
        GuidanceFile(root, f"{each}/{name}/{SKILL_FILE}") for root, each in places if root
    )


def skill_beside(name: str, file: str) -> GuidanceFile | None:
    """The skill beside the file of a workflow."""
    folder = os.path.dirname(os.path.abspath(file))
    return _first(iter([GuidanceFile(folder, f"{OWN_FOLDER}/{name}/{SKILL_FILE}")]))


def rules_of(folder: str) -> GuidanceFile | None:
    """The nearest AGENTS.md of the project around a folder."""
    return _first(GuidanceFile(each, RULES_FILE) for each in climb(folder))


def memory_file(path: str, folder: str, homes: Homes) -> GuidanceFile:
    """A file of memory: from `folder`, or `~/…` from the user's home.

    Raises:
        UnusableText: it is neither, or there is no home.
    """
    is_home = path.startswith("~/")
    inner = path[2:] if is_home else path
    parts = inner.split("/")
    if inner.startswith(("/", "~")) or ".." in parts or "\0" in inner or not parts[-1]:
        raise UnusableText("is not a path of a file within the project, or in the home (`~/…`)")
    if is_home and not homes.user:
        raise UnusableText("is in the home of the user, and there is none (HOME)")
    return GuidanceFile(homes.user if is_home else folder, inner)


def project_of(file: str) -> str:
    """The folder of the project whose workflow is in `file`: the one above `.workflow`, or the top
    of its repository.
    """
    folder = os.path.dirname(os.path.abspath(file))
    folders = list(climb(folder))
    named = (each for each in folders if os.path.basename(each) in FOLDERS)
    found = next(named, None)
    if found is not None:
        return os.path.dirname(found)
    return folders[-1] if os.path.lexists(os.path.join(folders[-1], ".git")) else folder


def read_guidance(found: GuidanceFile) -> tuple[str, bool]:
    """The text of a file, at most `MAX_BYTES` of it, and whether it is longer.

    Raises:
        FileNotFoundError: it does not exist.
        UnusableText: it cannot be read, is not a UTF-8 text file, or is outside its folder.
    """
    try:
        data = read_regular(found.path, MAX_BYTES, within=found.root, cut=True)
    except FileNotFoundError:
        raise
    except PathOutside as error:
        raise UnusableText(f"leads out of {found.root}") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnusableText(f"cannot be read: {reason}") from error
    is_cut = len(data) > MAX_BYTES
    try:  # a cut may split a character, which then is not a fault of the file
        text = getincrementaldecoder("utf-8")().decode(data[:MAX_BYTES], final=not is_cut)
    except UnicodeDecodeError as error:
        raise UnusableText("is not UTF-8 text") from error
    if "\0" in text:
        raise UnusableText("is not text")
    return text.removeprefix("\ufeff"), is_cut


def read_skill(found: GuidanceFile) -> str:
    """The text of a skill.

    Raises:
        FileNotFoundError: it does not exist. UnusableText: as `read_guidance`, or it is too large.
    """
    text, is_cut = read_guidance(found)
    if is_cut:
        raise UnusableText(f"is larger than {MAX_BYTES // 1024} KB")
    return text


def skill_faults(text: str, name: str) -> Iterator[str]:
    """What is wrong with the SKILL.md of the skill `name`."""
    match = _FRONTMATTER.match(text)
    if match is None:
        yield "does not begin with frontmatter: `---`, `name`, `description`, `---`"
        return
    try:
        given = _fields("\n" + (match[1] or ""))  # the line of the fence counts
    except DefinitionError as error:
        yield f"has invalid frontmatter ({error.where}): {error.message}; {error.hint}"
        return
    if given.get("name") != name:
        yield f"has the name {given.get('name')!r}, not that of its folder, {name!r}"
    about = given.get("description")
    if not isinstance(about, str) or not about.strip():
        yield "has no `description`, which tells when to use the skill"
    elif len(about) > _LONGEST_DESCRIPTION:
        yield f"has a description of more than {_LONGEST_DESCRIPTION} characters"


def _fields(frontmatter: str) -> dict[str, Any]:
    """The fields of a frontmatter. Its authors use programs that read a field which is not valid
    YAML, such as `description: Use for: a scene`, as text to the end of its line.

    Raises:
        DefinitionError: it is not YAML, and even so has not what a skill needs.
    """
    from uwf_core.yaml.source import parse_yaml

    try:
        fields = parse_yaml(frontmatter, file=SKILL_FILE)
    except DefinitionError:
        fields = {}
        for entry in re.finditer(_ENTRY, frontmatter):
            try:
                fields |= parse_yaml(entry[0], file=SKILL_FILE)
            except DefinitionError:
                fields[entry[1]] = " ".join(entry[2].split())
        if not {"name", "description"} <= fields.keys():
            raise
    return fields if isinstance(fields, dict) else {}


def _first(places: Iterator[GuidanceFile]) -> GuidanceFile | None:
    return next((each for each in places if os.path.lexists(each.file)), None)


# -- the check of a file ---------------------------------------------------------------------------


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
