"""`uwf demo`."""

from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.outcome import running
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session


@command("demo", "uwf demo", "uwf demo --dir /tmp/try-uwf", "uwf demo --live")
@click.option(
    "--dir", "folder", metavar="DIR", help="An empty or new folder (default: a temporary one)."
)
@click.option("--live", is_flag=True, help="Use the configured model (this costs tokens).")
def demo(session: Session, folder: str | None, live: bool) -> int:
    """Watch a workflow fix a failing test in a small project.

    Files really change and tests really run; a script plays the agent, so no key, model or server
    is needed. If the builtin agent is installed, it runs the script with its tools. Everything,
    including a separate store, is in one folder.
    """
    from uwf_core.demo.play import play

    with running(session) as (watching, cancel):
        played = play(session.env, folder, watching, cancel, live=live)
    session.emit(played["document"], _text)
    return played["exit_code"]


def _text(document: Mapping[str, Any], screen: Screen) -> str:
    from shlex import quote

    from uwf_core.cli.render.table import fields
    from uwf_core.demo.play import tests_line

    where = fields(
        [
            ("thread", f"{document['thread']}  {screen.status(document['status'])}"),
            ("tests", tests_line("before", document["testsBefore"])),
            ("", tests_line("after", document["testsAfter"])),
            ("agent", f"{document['agent']}: {document['playedBy']}"),
            ("project", document["project"]),
            ("store", document["store"]),
            ("remove", f"rm -r {quote(document['folder'])}"),
        ],
        screen,
    )
    lines = [document["text"].rstrip("\n"), "", screen.paint("─" * 40, "dim"), where, ""]
    lines.append(screen.paint("next", "bold"))
    for each in document["next"]:
        lines += [f"  {each['command']}", screen.paint(f"      {each['shows']}", "dim")]
    return "\n".join(lines)
