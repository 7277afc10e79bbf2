"""`uwf thread read`."""

import click

from uwf_core.cli.frame import command
from uwf_core.cli.session import Session
from uwf_core.cli.words import quota_option, thread_argument


@command("read", "uwf thread read @last", "uwf thread read 01JD8 --quota 8000", document=True)
@thread_argument()
@quota_option()
@click.option("--before", metavar="STEP", help="Only steps before this one.")
def read(session: Session, thread: str, quota: int, before: str | None) -> None:
    """Read a thread as Markdown: the task and the newest steps within the quota."""
    from uwf_core.engine.find import find_thread
    from uwf_core.views.read import read_thread

    found = find_thread(session.engine, thread)
    text = read_thread(session.engine, found, quota, before)
    session.emit({"thread": found, "text": text}, lambda document, _: str(document["text"]))
