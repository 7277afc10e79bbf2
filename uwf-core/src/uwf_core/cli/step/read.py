"""`uwf step read`."""

import click

from uwf_core.cli.frame import command
from uwf_core.cli.session import Session
from uwf_core.cli.words import quota_option, step_argument


@command("read", "uwf step read @last", "uwf step read 3FQ8K --prompt", document=True)
@step_argument()
@quota_option()
@click.option("--prompt", is_flag=True, help="Show the exact prompt that the agent got.")
def read(session: Session, step: str, quota: int, prompt: bool) -> None:
    """Read a step as Markdown: its turns and its output."""
    from uwf_core.engine.find import find_step
    from uwf_core.views.read import read_prompt, read_step

    found = find_step(session.engine, step)
    text = read_prompt(session.engine, found) if prompt else read_step(session.engine, found, quota)
    session.emit({"step": found, "text": text}, lambda document, _: str(document["text"]))
