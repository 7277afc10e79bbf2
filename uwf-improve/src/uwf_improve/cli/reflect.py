"""`uwf improve reflect`."""

from typing import Any

import click

from uwf_core.commands import Moment, Session, cancel_on_signals, command, working_folder


@command(
    "reflect",
    "uwf improve reflect fix-bug",
    "uwf improve reflect fix-bug --since 30d --format json",
    "uwf improve reflect fix-bug --agent claude-code",
    logged=True,
)
@click.argument("workflow", metavar="WORKFLOW")
@click.option("--since", type=Moment(), metavar="WHEN", help="Started since a date, or 30d, 12h.")
@click.option("--limit", type=click.IntRange(min=1), default=500, show_default=True, metavar="N",
              help="Read at most the N newest threads.")  # fmt: skip
@click.option("--show-prompt", is_flag=True, help="Print what an agent would get; send nothing.")
@click.option("--agent", metavar="A", help="Send findings and recorded texts to this agent.")
@click.option("--model", metavar="M", help="The same to a configured model (builtin agent).")
def reflect(
    session: Session,
    workflow: str,
    since: int | None,
    limit: int,
    show_prompt: bool,
    agent: str | None,
    model: str | None,
) -> None:
    """Find what goes wrong again and again in the recorded threads of a workflow.

    Each finding has a number and the steps that show it. No model is called and nothing leaves
    this machine, except with --agent or --model.
    """
    from uwf_core.client import Client
    from uwf_core.fields.records import write_record
    from uwf_improve.history.read import read_histories
    from uwf_improve.reflect.ask import BUILTIN, ask
    from uwf_improve.reflect.prompt import prompt_of
    from uwf_improve.reflect.reflection import reflect as find
    from uwf_improve.reflect.text import reflection_text

    with (
        Client.open(
            env=session.env, cwd=working_folder(), default_model=model, on_notice=session.note
        ) as client,
        cancel_on_signals(session) as cancel,
    ):
        found = find(read_histories(client, workflow, since, limit))
        document: dict[str, Any] = write_record(found)
        if show_prompt:
            prompt = prompt_of(client, workflow, found)
            session.emit({"prompt": prompt}, lambda each, _: each["prompt"])
            return
        if agent is not None or model is not None:
            prompt = prompt_of(client, workflow, found)
            said = ask(client, "reflect", prompt, agent=agent or BUILTIN, cancel=cancel)
            document |= {"answer": said["body"], "thread": said["thread"]}
    session.emit_line(document, reflection_text)
