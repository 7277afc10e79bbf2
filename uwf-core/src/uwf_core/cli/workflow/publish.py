"""`uwf workflow add`."""

import click

from uwf_core.cli.frame import command
from uwf_core.cli.outcome import watch
from uwf_core.cli.session import Session


@command("add", "uwf workflow add fix-bug.yaml", logged=True)
@click.argument("file", metavar="FILE")
def add(session: Session, file: str) -> None:
    """Check a workflow file, store it and register it under its name.

    The same file always has the same reference. An existing name moves to the new version;
    threads keep the version that they were started with.
    """
    from uwf_core.engine.workflows import publish_file
    from uwf_core.workflow.registry import register

    engine = session.engine
    with watch(session) as live:
        ref = publish_file(engine, file, live)
    name = engine.definition(ref).name
    register(engine.store, name, ref)
    document = {"name": name, "workflow": ref}
    session.emit(document, lambda each, _: f"{each['name']} {each['workflow']}")
