"""`uwf step turns`."""

import click

from uwf_core.cli.frame import command
from uwf_core.cli.session import Session
from uwf_core.cli.words import thread_argument


@command("turns", "uwf step turns @last", "uwf step turns @last --role developer --live")
@thread_argument()
@click.option("--role", metavar="R", help="Only turns of this role.")
@click.option("--live", is_flag=True, help="Follow the running step until it ends.")
def turns(session: Session, thread: str, role: str | None, live: bool) -> None:
    """Show the turns of all steps of a thread, also of the running step.

    With --live and --format json, each turn is printed as one line of JSON.
    """
    from uwf_core.cli.render.step import turn_text, turns_text
    from uwf_core.views.turns import follow_turns, list_turns

    if not live:
        session.emit({"turns": list_turns(session.engine, thread, role)}, turns_text)
        return
    for turn in follow_turns(session.engine, thread, role):
        session.emit_line(turn, turn_text)
        if session.reader_left:
            return
