"""Stage 6: the skills and memory that a role names, and the rules of its project -> their texts.

All of these are texts that an agent obeys. Those of a project are read only where the user trusts
the folder, as its workflows are.
"""

import json
from typing import TYPE_CHECKING, Any, Literal

from uwf_core.errors import Unavailable
from uwf_core.ids import Ref
from uwf_core.thread.history import Guidance
from uwf_core.workflow.skills import (
    MAX_BYTES,
    OWN_FOLDER,
    RULES_FILE,
    SKILL_FOLDERS,
    GuidanceFile,
    Homes,
    UnusableText,
    home_skill,
    memory_file,
    project_skill,
    read_guidance,
    read_skill,
    rules_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uwf_core.agents.open import OpenAgent
    from uwf_core.engine.context import Attempt, Run
    from uwf_core.workflow.definition import Role


def guidance_of(
    run: "Run", attempt: "Attempt", agent: "OpenAgent", *, rules: bool
) -> list[Guidance]:
    """The texts for the task of the attempt, redacted.

    Args:
        rules: whether the agent gets those of the project (AGENTS.md).

    Raises:
        Unavailable: a skill is not found or cannot be used.
    """
    role = run.definition.roles[attempt.task.role]
    reader = _Reader(run, role, by_name="skills" in agent.capabilities)
    found = [*reader.skills(), *reader.memory()]
    if rules:
        found += reader.rules(attempt.task.cwd)
    clean = run.engine.redactor.text
    return [each._replace(text=clean(each.text)) for each in found]


class _Reader:
    """Reads the files of one attempt."""

    def __init__(self, run: "Run", role: "Role", *, by_name: bool) -> None:
        self._run = run
        self._role = role
        self._by_name = by_name
        self._homes = Homes(run.engine.home, run.engine.env.get("HOME", ""))

    def skills(self) -> "Iterator[Guidance]":
        for name in dict.fromkeys(self._role.skills):
            yield self._skill(name)

    def memory(self) -> "Iterator[Guidance]":
        folder, role = self._run.folder, self._role
        for path in dict.fromkeys(role.memory):
            try:
                found = memory_file(path, folder, self._homes)
                if found.root == folder and not self._trusts(folder, f"the memory {path}"):
                    continue
                yield self._text("memory", path, found)
            except FileNotFoundError:
                continue  # until somebody writes it
            except UnusableText as error:
                self._notice(f"role {role.name} works without its memory {path}: it {error}")

    def rules(self, cwd: str) -> "Iterator[Guidance]":
        found = rules_of(cwd)
        if found is None or not self._trusts(found.root, found.file):
            return
        try:
            yield self._text("rules", RULES_FILE, found)
        except (UnusableText, FileNotFoundError) as error:
            self._notice(f"role {self._role.name} works without {found.file}: it {error}")

    def _skill(self, name: str) -> Guidance:
        folder, kept = self._run.folder, self._role.skill_texts or {}
        found, hint = project_skill(name, folder, self._homes), ""
        if found is not None and not self._run.engine.trusts(found.root):
            hint = f"{found.file} is not used; if you trust it: uwf config trust {found.root}"
            found = None
        found = found or home_skill(name, self._homes)
        if hint and (found or name in kept):
            self._notice(hint)
        if found is None and name in kept:
            text = self._run.engine.store.text(Ref(kept[name]))
            return Guidance("skill", name, "the workflow", "text", text)
        if found is None:
            places = ", ".join((*SKILL_FOLDERS, f"{self._homes.uwf}/{OWN_FOLDER}"))
            message = f"role {self._role.name} needs the skill {name!r}, which is not in {places}"
            raise Unavailable(message, hint=hint or "install it, or change the workflow")
        try:
            text = read_skill(found)
        except (UnusableText, FileNotFoundError) as error:
            message = f"role {self._role.name} cannot use the skill {found.file}: it {error}"
            raise Unavailable(message, hint="fix or replace this file") from error
        path = found.path if found.root == folder else found.file
        is_shared = found.path.startswith(SKILL_FOLDERS)  # no agent looks into uwf's own folder
        given: Literal["name", "text"] = "name" if self._by_name and is_shared else "text"
        return Guidance("skill", name, path, given, text)

    def _text(self, kind: Literal["memory", "rules"], name: str, found: GuidanceFile) -> Guidance:
        text, is_cut = read_guidance(found)
        if is_cut:
            text += f"\n[cut after {MAX_BYTES // 1024} KB]\n"
            self._notice(f"{found.file} is larger than {MAX_BYTES // 1024} KB, and cut")
        is_near = kind == "memory" or found.root == self._run.folder
        return Guidance(kind, name, name if is_near else found.file, "text", text)

    def _trusts(self, folder: str, what: str) -> bool:
        if self._run.engine.trusts(folder):
            return True
        self._notice(f"{what} is not read; if you trust it: uwf config trust {folder}")
        return False

    def _notice(self, text: str) -> None:
        """Report once: at the first try of the role."""
        state = self._run.head.state
        if not state.role(self._role.name).visits and not state.tries:
            self._run.watch.notice(text)


def tools_changed(before: str | None, now: str) -> str:
    """What is different in a list of tools, in words; empty if nothing is."""
    if before is None or before == now:
        return ""
    a, b = _tools(before), _tools(now)
    if a is None or b is None:
        return "the list is another one"
    differs = [name for name in b if name in a and a[name] != b[name]]
    parts = {
        "new": [name for name in b if name not in a],
        "gone": [name for name in a if name not in b],
        "changed": differs,
    }
    return "; ".join(f"{what}: {', '.join(names)}" for what, names in parts.items() if names)


def _tools(text: str) -> dict[str, Any] | None:
    """The tools by name, if the list is JSON."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
