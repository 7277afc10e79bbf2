"""`uwf step diff`: what a step changed in the files."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen
from uwf_core.escape import clean, in_line

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine


def patch_text(
    document: Mapping[str, Any], screen: Screen, engine: "Engine", step: str, stat: bool
) -> str:
    """`step diff`: the changed paths, and the patch unless `stat` leaves it out."""
    from uwf_core.views.recorded import open_step
    from uwf_core.views.step_files import patch_of_step

    shown = diff_text(document, screen)
    if stat or not document["files"]:
        return shown
    patch = patch_of_step(engine.home, open_step(engine, step))
    return f"{shown}\n\n{clean(patch.rstrip())}"


def diff_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The changed paths of `step diff`."""
    lines = [_changed(each, screen) for each in document["files"]]
    for path, (before, after) in document["nested"].items():
        lines.append(f"commit   {in_line(path)} ({before or 'none'} -> {after or 'none'})")
    if document["notRecorded"]:
        lines.append(f"not recorded: {document['notRecorded']}")
    count = len(document["files"])
    lines.append(f"{count} files changed" if count != 1 else "1 file changed")
    return "\n".join(lines)


def _changed(change: Mapping[str, Any], screen: Screen) -> str:
    kind = screen.paint(f"{change['kind']:<8}", "dim")
    return f"{kind} {in_line(change['path'])}{_sizes(change)}"


def _sizes(change: Mapping[str, Any]) -> str:
    known = (change["sizeBefore"], change["sizeAfter"])
    sizes = [amounts.size(each) for each in known if each is not None]
    if change["before"] != change["after"] and change["before"] and change["after"]:
        return f" ({change['before']} -> {change['after']})"
    return f" ({' -> '.join(sizes)})"
