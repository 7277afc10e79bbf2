"""`uwf step diff`: what a step changed in the files."""

from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.params import step_argument
from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.escape import clean, in_line


@command("diff", "uwf step diff 3FQ8K", "uwf step diff @last --stat")
@step_argument()
@click.option("--stat", is_flag=True, help="Only the changed paths, without the patch.")
def diff(session: Session, step: str, stat: bool) -> None:
    """Show what a step changed in the files: the changed paths, and a patch.

    The files must be recorded: `record: true` in the workflow, or the setting workspace.record.
    """
    from uwf_core.views.recorded import open_step
    from uwf_core.views.step_files import diff_step, patch_of_step

    home, found_step = session.engine.home, open_step(session.engine, step)
    document = diff_step(home, found_step)

    def text(found: Mapping[str, Any], screen: Screen) -> str:
        shown = diff_text(found, screen)
        if stat or not found["files"]:
            return shown
        return f"{shown}\n\n{clean(patch_of_step(home, found_step).rstrip())}"

    session.emit(document, text)


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
