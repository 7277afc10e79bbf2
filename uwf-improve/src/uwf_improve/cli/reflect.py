"""`uwf improve reflect`."""

from typing import Any

from uwf_core.client import Client
from uwf_core.commands import Session, cancel_on_signals, working_folder
from uwf_core.fields.records import write_record
from uwf_improve.history.read import read_histories
from uwf_improve.reflect.ask import BUILTIN, ask
from uwf_improve.reflect.prompt import prompt_of
from uwf_improve.reflect.reflection import reflect as find
from uwf_improve.reflect.text import reflection_text


def reflect(
    session: Session,
    workflow: str,
    since: int | None,
    limit: int,
    show_prompt: bool,
    agent: str | None,
    model: str | None,
) -> None:
    """Print the findings about a workflow."""
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
