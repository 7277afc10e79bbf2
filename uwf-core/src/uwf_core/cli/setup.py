"""`uwf setup`, told by options alone."""

import click

from uwf_core.cli.frame import command
from uwf_core.cli.session import Session
from uwf_core.cli.words import prompt_text


@command(
    "setup",
    "uwf setup --provider openai --api-key - --model gpt-4.1",
    "uwf setup --provider ollama --model llama3",
    "uwf setup --provider mine --base-url https://llm.example/v1 --model large --agent builtin",
)
@click.option("--provider", required=True, metavar="NAME", help="A known service, or your name.")
@click.option("--base-url", metavar="URL", help="Its OpenAI-compatible address, if not known.")
@click.option("--api-key", metavar="KEY", help="`-` reads it from stdin; kept in .env, mode 0600.")
@click.option("--model", metavar="NAME", help="The model to use by default.")
@click.option("--agent", metavar="NAME", help="The agent to use by default.")
def setup(
    session: Session,
    provider: str,
    base_url: str | None,
    api_key: str | None,
    model: str | None,
    agent: str | None,
) -> None:
    """Write a provider, its key, a model and a default agent into your configuration.

    Known services: openai, openrouter, xai, venice, dashscope, deepseek, siliconflow,
    volcengine, kimi, glm, stepfun, minimax, ollama. The rest of the file is kept.
    """
    from uwf_core.config.setup import SetupValues, setup_values

    if api_key == "-":
        api_key = prompt_text(session, api_key, "--api-key").strip()
    values = SetupValues(provider, base_url, api_key, model, agent)
    done = setup_values(session.engine.home, session.engine.env, values)
    for notice in done.notices:
        session.note(notice)
    session.emit(
        done.document(),
        lambda each, _: (
            f"model {each['model'] or '–'}, agent {each['agent'] or '–'}\ngo on: uwf doctor"
        ),
    )
