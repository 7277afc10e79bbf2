"""`uwf setup`: by options, or by questions on a terminal."""

from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.frame import command
from uwf_core.cli.render.style import Screen
from uwf_core.cli.session import Session
from uwf_core.cli.words import prompt_text
from uwf_core.errors import UsageError


@command(
    "setup",
    "uwf setup",
    "uwf setup --provider openai --api-key - --model gpt-4.1",
    "uwf setup --provider ollama --model llama3",
    "uwf setup --provider mine --base-url https://llm.example/v1 --model large --agent builtin",
)
@click.option("--provider", metavar="NAME", help="A known service, or a name of your choice.")
@click.option("--base-url", metavar="URL", help="OpenAI-compatible address of an unknown service.")
@click.option(
    "--api-key", metavar="KEY", help="`-` reads it from stdin; stored in .env, mode 0600."
)
@click.option("--model", metavar="NAME", help="The default model.")
@click.option("--agent", metavar="NAME", help="The default agent.")
@click.option("--no-trial", is_flag=True, help="Do not test the model with one small request.")
def setup(
    session: Session,
    provider: str | None,
    base_url: str | None,
    api_key: str | None,
    model: str | None,
    agent: str | None,
    no_trial: bool,
) -> None:
    """Write a provider, its key, a model and a default agent into your configuration.

    Asks on a terminal if --provider is missing. Known services: openai, openrouter, xai, venice,
    dashscope, deepseek, siliconflow, volcengine, kimi, glm, stepfun, minimax, ollama. Keeps the
    rest of the file. Tests the model with one small request; a failure is only reported.
    """
    from uwf_core.cli import wizard
    from uwf_core.config.setup import SetupValues, setup_values
    from uwf_core.engine.names import check_names

    if provider is None:
        if not wizard.can_ask(session):
            raise UsageError("--provider is missing", where="--provider", hint="uwf setup --help")
        values = wizard.ask(session, SetupValues("", base_url, api_key, model, agent))
    else:
        if api_key == "-":
            api_key = prompt_text(session, api_key, "--api-key").strip()
        values = SetupValues(provider, base_url, api_key, model, agent)
    if values.agent is not None:
        check_names(session.engine, [(("defaultAgent",), values.agent)])
    done = setup_values(session.engine.home, session.engine.env, values)
    for notice in done.notices:
        session.note(notice)
    trial = None if no_trial or done.model is None else _trial(session, done.model)
    session.emit({**done.document(), "trial": trial}, _text)


def _trial(session: Session, alias: str) -> dict[str, Any]:
    from uwf_core.cli.trial import try_model

    trial = try_model(session.reopened().settings.model(alias))
    session.note(trial.message if trial.good else f"the model test failed: {trial.message}")
    return trial.document()


def _text(document: Mapping[str, Any], _screen: Screen) -> str:
    model, agent = document["model"] or "–", document["agent"] or "–"
    return f"model {model}, agent {agent}\nnext: uwf doctor"
