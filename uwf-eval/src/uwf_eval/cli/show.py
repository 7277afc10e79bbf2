"""`uwf-eval show`."""

import click

from uwf_core.commands import Session, command
from uwf_eval.cli.opened import results_of


@command("show", "uwf-eval show @last/3", "uwf-eval show nightly/12 --format json")
@click.argument("trial", metavar="TRIAL")
def show(session: Session, trial: str) -> None:
    """Show one trial: its steps, what each judge said, why it failed, how to read its thread.

    TRIAL is RUN/NUMBER; RUN is an id, a unique prefix of one, a name or @last.
    """
    from uwf_core.api.fields import write_record
    from uwf_eval.report.trial_text import reading, trial_text

    with results_of(session) as (_, results):
        found = results.trial(trial)
    document = {**write_record(found), "commands": reading(found)}
    session.emit(document, lambda _, screen: trial_text(found, screen))
