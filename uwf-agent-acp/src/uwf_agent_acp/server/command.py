"""`uwf acp`: be an agent of an editor."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from uwf_core.commands import Session, cancel_on_signals, clean, command, working_folder
from uwf_core.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from uwf_core.client import Client

GRACE_SECONDS = 15.0
"""So long the runs may take to stop."""
_LOOK_SECONDS = 0.25


@command("acp", "uwf acp", "uwf acp --workflow fix-bug")
@click.option(
    "--workflow", metavar="W", help="Offer this workflow; without it each one is a session mode."
)
def acp(session: Session, workflow: str | None) -> int:
    """Run workflows in an editor: speak the Agent Client Protocol (ACP) on stdin and stdout.

    Your editor starts it, as one agent among others. A session is a thread: a prompt starts it,
    answers its question, or resumes it. The thread stops when the editor disconnects, and you can
    load it again.
    """
    import threading

    from uwf_agent_acp.server.service import AcpService, Setting
    from uwf_agent_acp.server.stdio import Stdio
    from uwf_core import __version__

    if os.isatty(0):
        session.note("note: an editor starts this command; it reads messages of ACP from stdin")
    if workflow is not None and (os.sep in workflow or workflow.endswith((".yaml", ".yml"))):
        workflow = str(Path(working_folder(), workflow))
    lock = threading.Lock()

    def log(line: str) -> None:
        with lock:
            session.note(clean(f"uwf acp: {line}"))

    open_client = _opener(log)
    if workflow is not None:
        with open_client(str(working_folder()), lambda _event: None) as client:
            client.workflow(workflow)  # else an editor shows the mistake only in its first session
    with cancel_on_signals(session) as cancel:
        streams = Stdio(lambda: cancel.set(_GONE))
        setting = Setting(__version__, workflow, open_client, log)
        service = AcpService(streams, setting)

        def read() -> None:
            service.serve()
            cancel.set(_GONE)

        threading.Thread(target=read, name="editor", daemon=True).start()
        while not cancel.wait(_LOOK_SECONDS):
            pass  # Python handles a signal that another thread got when this thread wakes up
        service.close(cancel.reason or _GONE, GRACE_SECONDS)
    return ExitCode.DONE if cancel.reason == _GONE else ExitCode.INTERRUPTED


_GONE = "the editor has disconnected"


def _opener(log: "Callable[[str], None]") -> "Callable[[str, Callable[[object], None]], Client]":
    def open_client(cwd: str, on_event: "Callable[[object], None]") -> "Client":
        from uwf_core.client import Client

        return Client.open(cwd=cwd, via="acp", on_event=on_event, on_notice=log)

    return open_client
