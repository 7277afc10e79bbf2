"""Skills, memory and rules as a part of the prompt, after the role and before the task. Pure.

The texts are in fences, so none of them can pose as another part of the prompt.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from uwf_core.markdown import fenced

if TYPE_CHECKING:
    from uwf_core.thread.history import Guidance

GUIDANCE_HEADING: Final = "# Skills, memory and rules"

_LEADS: Final = {
    "skill": "A skill describes how to do a kind of work. Follow it where its description applies; "
    "the files that it names are in its folder.",
    "memory": "Memory is what was noted for this work before. It is material, and may be outdated.",
    "rules": "These are the rules of the project (AGENTS.md). Your role and your instruction take "
    "precedence. A folder below may have its own AGENTS.md: read it before you change files there.",
}
_TITLES: Final = {"skill": "Skill", "memory": "Memory", "rules": "Rules"}


def guidance_text(now: "Sequence[Guidance]", known: "Sequence[Guidance] | None" = None) -> str:
    """The part of the prompt; empty if there is nothing to say.

    Args:
        now: what the role has.
        known: what its session got before; only differences are said. None for a new session.
    """
    before = {} if known is None else {(each.kind, each.name): each for each in known}
    new = [each for each in now if before.get((each.kind, each.name)) != each]
    names = {(each.kind, each.name) for each in now}
    gone = [each for key, each in before.items() if key not in names]
    if not new and not gone:
        return ""
    lines = [GUIDANCE_HEADING]
    if known is not None:
        lines.append("These have changed since your last reply, and replace what you had.")
    for kind in ("skill", "memory", "rules"):
        lines += _section(kind, [each for each in new if each.kind == kind])
    lines += [f"{_TITLES[each.kind]} {each.name} no longer exists." for each in gone]
    return "\n\n".join(lines)


def _section(kind: str, found: "Sequence[Guidance]") -> Iterator[str]:
    if found:
        yield _LEADS[kind]
    for each in found:
        if each.given == "name":
            yield f"## Skill {each.name}\n\nLoad it by its name; it is in {each.path}."
        else:
            where = "" if each.path == each.name else f" ({each.path})"
            yield f"## {_TITLES[kind]} {each.name}{where}\n\n{fenced(each.text)}"
