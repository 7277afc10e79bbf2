"""Statements about the skills, memory and rules of a role, and which of them have changed."""

from collections.abc import Iterator

from uwf_core.api import RecordedStep
from uwf_explain.explanation.statements import Statement
from uwf_explain.explanation.surroundings import Surroundings


def guidance_statements(step: RecordedStep, around: Surroundings) -> Iterator[Statement]:
    """What the role got besides its own text, and what of it differs from its last step."""
    now = texts_of(step)
    if not now:
        return
    number, before = around.guided.get(step.role, (0, now))
    text = f"It had the {_listed(list(now))}."
    yield Statement("guidance", text, (*dict.fromkeys(now.values()), step.ref))
    changed = [name for name in now if name in before and before[name] != now[name]]
    if changed:
        text = f"Since step {number} ({step.role}), the {_listed(changed)} had changed."
        refs = tuple(ref for name in changed for ref in (now[name], before[name]))
        yield Statement("guidance", text, (*refs, step.ref), brief=text)


def texts_of(step: RecordedStep) -> dict[str, str]:
    """The texts that a step got, by kind and name."""
    found = step.node["attempt"]["skills"] or ()
    texts = {f"{each['kind']} {each['name']}": each["text"] for each in found}
    tools = step.node["toolList"]
    return texts if tools is None else {**texts, "tools of servers": tools}


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', the '.join(names[:-1])} and the {names[-1]}"
