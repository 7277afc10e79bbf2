"""`workflow diff` as text: a summary, and each change with whom it breaks."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.lines import changed_lines

_SHOWN = (
    "description-changed", "text-changed", "field-retyped", "field-described", "schema-changed",
    "prompt-changed", "location-changed", "player-changed", "input-changed",
)  # fmt: skip
"""Changes of which the differing lines are shown."""


def workflow_diff_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The comparison; changes that break something come with the reason."""
    parts = ["\n".join(_side(name, document) for name in ("a", "b"))]
    parts += [_change(each, screen) for each in document["changes"]]
    parts.append(_summary(document, screen))
    return "\n\n".join(parts)


def _side(name: str, document: Mapping[str, Any]) -> str:
    side = document[name]
    return f"{name.upper()}  {side['workflowName']} ({side['workflow'] or 'not published'})"


def _summary(document: Mapping[str, Any], screen: Screen) -> str:
    if document["same"]:
        return screen.paint("no difference", "ok")
    count = len(document["changes"])
    changes = "1 change" if count == 1 else f"{count} changes"
    verdicts = (
        f"{word}: {screen.paint(document[word], _STYLES[document[word]])}"
        for word in ("forks", "callers")
    )
    return f"{changes}; {', '.join(verdicts)}"


_STYLES = {"breaking": "error", "compatible": "ok"}


def _change(change: Mapping[str, Any], screen: Screen) -> str:
    is_breaking = "breaking" in (change["forks"], change["callers"])
    mark = screen.paint("breaking", "error") if is_breaking else "compatible"
    lines = [f"{mark}  {screen.paint(change['place'], 'bold')}  {_words(change)}"]
    for word in ("forks", "callers"):
        if change[f"{word}Reason"]:
            lines.append(f"  breaks {word}: {change[f'{word}Reason']}")
    if change["kind"] in _SHOWN:
        lines += changed_lines(change["a"], change["b"], screen)
    return "\n".join(lines)


def _words(change: Mapping[str, Any]) -> str:
    what = str(change["kind"]).replace("-", " ")
    if change["kind"] in _VALUES:
        return f"{what}: {_short(change['a'])} -> {_short(change['b'])}"
    return what


_VALUES = (
    "name-changed", "limit-changed", "role-renamed", "tools-changed", "timeout-changed",
    "reserve-changed", "field-required", "field-optional", "edge-retargeted",
    "branches-added", "branches-removed", "branches-changed",
    "workspace-changed",
)  # fmt: skip
"""Changes whose values are short."""


def _short(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return "none" if value is None else str(value)
