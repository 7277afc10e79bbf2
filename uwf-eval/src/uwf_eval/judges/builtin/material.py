"""The texts of a trial that a model gets. Pure."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

_CUT = "\n[… {left_out} characters left out …]\n"


def leaf_steps(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The steps of agents and programs. That of calls only repeats the last ones of threads."""
    return [step for step in record.get("steps") or () if not is_call(step)]


def is_call(step: Mapping[str, Any]) -> bool:
    """Whether it is the step of a call, or of branches."""
    return bool(step.get("childThread") or (step.get("call") or {}).get("branches") is not None)


def delivered(step: Mapping[str, Any]) -> str:
    """The output of a step: its fields, then its body."""
    fields = (step.get("output") or {}).items()
    lines = [f"{name}: {_as_text(value)}" for name, value in fields if name != "_body"]
    return "\n".join([*lines, *([""] if lines else []), str(step.get("body") or "")]).strip()


def worked(step: Mapping[str, Any]) -> str:
    """The texts of a step's turns and its tool calls."""
    parts = []
    for turn in step.get("turns") or ():
        if turn.get("text"):
            parts.append(str(turn["text"]))
        for call in turn.get("toolCalls") or ():
            parts.append(f"called {call.get('name')} with {call.get('arguments')}")
    return "\n".join(parts)


def results(step: Mapping[str, Any]) -> str:
    """The results of a step's tool calls, which the role did not write."""
    calls = [call for turn in step.get("turns") or () for call in turn.get("toolCalls") or ()]
    return "\n".join(f"{call.get('name')} gave: {call.get('result') or ''}" for call in calls)


def asked(step: Mapping[str, Any]) -> str:
    """The moderator's instruction of a step."""
    return str((step.get("attempt") or {}).get("edgePrompt") or "")


def told(record: Mapping[str, Any], steps: Sequence[Mapping[str, Any]], at: int) -> str:
    """The input of a step: the task, its prompt, and the outputs of earlier steps."""
    parts = [str(record.get("prompt") or ""), asked(steps[at])]
    parts += [f"{step['role']} delivered:\n{delivered(step)}" for step in steps[:at]]
    return "\n\n".join(part for part in parts if part.strip())


def whole(record: Mapping[str, Any]) -> str:
    """The outputs of all steps of a thread and of those that it called, in order."""
    steps = leaf_steps(record)
    parts = [f"step {step['number']}, {step['role']}:\n{delivered(step)}" for step in steps]
    return "\n\n".join(parts)


def cut(text: str, characters: int) -> str:
    """A text without its middle, if it is too long."""
    if len(text) <= characters:
        return text
    half = characters // 2
    return text[:half] + _CUT.format(left_out=len(text) - 2 * half) + text[-half:]


def fenced(sections: Mapping[str, str]) -> tuple[str, str]:
    """The sections between marked lines, and the mark.

    The mark is a digest of all sections, so the author of a section cannot know it and cannot close
    the section early.
    """
    content = json.dumps(dict(sections), ensure_ascii=False).encode("utf-8", "surrogatepass")
    mark = hashlib.sha256(content).hexdigest()[:20]
    parts = [f"<<<{mark} {name}\n{text}\n{mark}>>>" for name, text in sections.items()]
    return "\n\n".join(parts), mark


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
