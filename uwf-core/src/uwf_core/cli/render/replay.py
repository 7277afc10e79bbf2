"""`uwf replay` as text: a summary of each thread, and the first attempt that is not the same."""

from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.cli.render.colours import Screen

_STYLES = {"same": "ok", "stale": "warning", "different": "error", "unreachable": "dim"}


def replays_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The replays of several threads."""
    return "\n\n".join("\n".join(_lines(each, screen)) for each in document["replays"])


def _lines(replay: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    counts = [
        screen.paint(f"{count} {verdict}", _STYLES[verdict])
        for verdict, count in replay["counts"].items()
        if count
    ]
    name = replay["workflowName"]
    version = "its own workflow" if replay["workflow"] is None else f"{name} {replay['workflow']}"
    yield f"{replay['thread']} by {version}: {', '.join(counts) or 'no steps'}"
    first = replay["first"]
    if first is not None:
        from uwf_core.replay.words import difference_text, headline

        yield headline(first)
        for difference in first["differences"]:
            yield "\n".join(_painted(difference_text(difference), screen))


def _painted(diff: str, screen: Screen) -> Iterator[str]:
    for line in diff.splitlines():
        style = {"+": "ok", "-": "error", "@": "dim"}.get(line[:1])
        yield line if style is None else screen.paint(line, style)
