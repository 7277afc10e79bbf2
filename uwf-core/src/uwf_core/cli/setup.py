"""`uwf setup`: by options, or by questions on a terminal."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import click

from uwf_core.cli.command import command
from uwf_core.cli.model_trial import TrialDocument, models_of, try_model
from uwf_core.cli.params import prompt_text
from uwf_core.cli.render.colours import Screen, is_terminal
from uwf_core.cli.session import Session
from uwf_core.config.keys import DEFAULT_PROTOCOL
from uwf_core.config.providers import PRESETS
from uwf_core.engine.models import callable_model
from uwf_core.errors import UsageError
from uwf_core.plugins.scan import MODELS

if TYPE_CHECKING:
    from uwf_core.api.models import Model
    from uwf_core.config.setup import SetupValues

_OTHER = "another"
_MODELS_SHOWN = 40
_BRINGS_A_MODEL = (
    "An agent that brings its model, such as Claude Code, needs only:\n"
    "  uwf setup --agent claude-code        (Ctrl-C leaves these questions)"
)


class SetupDocument(TypedDict):
    """What was written: null for what was not asked for. `trial`: of the model with one request."""

    model: str | None
    agent: str | None
    apiKeyEnv: str | None
    trial: TrialDocument | None
    agentReady: bool | None


@command(
    "setup",
    "uwf setup",
    "uwf setup --agent claude-code",
    "uwf setup --provider openai --api-key - --model gpt-4.1",
    "uwf setup --provider anthropic --api-key - --model claude-sonnet-4-5",
    "uwf setup --provider ollama --model llama3",
    "uwf setup --provider mine --base-url https://llm.example/v1 --model large --agent builtin",
)
@click.option("--provider", metavar="NAME", help="A known service, or a name of your choice.")
@click.option("--base-url", metavar="URL", help="The address of an unknown service.")
@click.option("--protocol", metavar="NAME", help="The protocol of an unknown service.")
@click.option(
    "--api-key", metavar="KEY", help="`-` reads it from stdin; stored in .env, mode 0600."
)
@click.option("--model", metavar="NAME", help="The default model.")
@click.option("--agent", metavar="NAME", help="The default agent.")
@click.option("--no-trial", is_flag=True, help="Do not test the model with one small request.")
def setup(session: Session, no_trial: bool, **given: Any) -> None:
    """Configure a provider, a model and a default agent: writes them into your configuration.

    Asks on a terminal if --provider is missing; --agent alone needs no provider. Known services:
    openai, openai-responses, anthropic, gemini, openrouter, xai, venice, dashscope, deepseek,
    siliconflow, volcengine, kimi, glm, stepfun, minimax, ollama. Keeps the rest of the file. Tests
    the model with one small request, and whether the agent is installed; a failure is only
    reported.
    """
    from uwf_core.config.setup import SetupValues, setup_agent, setup_values
    from uwf_core.engine.names import check_names

    agent, rest = given["agent"], {**given, "agent": None}
    needs_provider = agent is None or any(rest.values())
    if given["protocol"] is not None:
        session.engine.plugins.found(MODELS, given["protocol"])
    values = SetupValues(**{**given, "provider": given["provider"] or ""})
    if needs_provider and not values.provider:
        if not (is_terminal(sys.stdin) and is_terminal(session.stderr)):
            raise UsageError("--provider is missing", where="--provider", hint="uwf setup --help")
        values = _ask(session, values)
    elif values.api_key == "-":
        key = prompt_text(session, values.api_key, "--api-key")
        values = values._replace(api_key=key.strip())
    if agent is not None:
        check_names(session.engine, [(("defaultAgent",), agent)])
    if needs_provider:
        done = setup_values(session.engine.home, session.engine.env, values)
    else:
        done = setup_agent(session.engine.home, agent or "")
    for notice in done.notices:
        session.note(notice)
    trial = None if no_trial or done.model is None else _try(session, done.model)
    named = None if done.agent is None else _note_readiness(session, done.agent)
    document: SetupDocument = {
        "model": done.model, "agent": done.agent, "apiKeyEnv": done.key_variable, "trial": trial,
        "agentReady": named,
    }  # fmt: skip
    session.emit(document, _text)


def _note_readiness(session: Session, agent: str) -> bool:
    """Whether the agent is ready; if not, print the reason and the fix. It stays the default."""
    from uwf_core.maintenance.agent_ready import agent_readiness

    found = agent_readiness(session.reopened(), agent)
    if not found["ready"]:
        session.note(f"note: agent {agent!r} is not ready: {found['reason']}")
        if found["hint"]:
            session.note(f"hint: {found['hint']}")
    return found["ready"]


def _try(session: Session, alias: str) -> TrialDocument:
    trial = try_model(callable_model(session.reopened(), alias))
    session.note(trial.message if trial.good else f"the model test failed: {trial.message}")
    return trial.document()


_NEXT = (
    "uwf workflow new .workflow/fix-bug.yaml --from fix-bug",
    "uwf workflow check .workflow/fix-bug.yaml",
    'uwf run fix-bug -p "YOUR TASK"',
)


def _text(document: Mapping[str, Any], _screen: Screen) -> str:
    from shlex import quote

    from uwf_core.cli.render.table import in_order

    given = [f"{name} {document[name]}" for name in ("model", "agent") if document[name]]
    lines = [f"default {', '.join(given)}"] if given else []
    if document["agentReady"] is False:
        follow: tuple[str, ...] = (f"uwf agent check {quote(document['agent'])}",)
    elif (document["trial"] or {}).get("ok") is False or not given:
        follow = ("uwf doctor",)
    else:
        follow = _NEXT
    return "\n".join([*lines, *in_order(follow)])


def _ask(session: Session, given: "SetupValues") -> "SetupValues":
    """Ask for what `given` lacks.

    Raises:
        click.Abort: Ctrl-C or the end of input; nothing was written.
    """
    provider = _provider(session)
    base_url = given.base_url or _base_url(provider)
    protocol = given.protocol or _protocol(session, provider)
    key = given.api_key or _key(session, provider)
    values = given._replace(provider=provider, base_url=base_url, api_key=key, protocol=protocol)
    return values._replace(model=given.model or _model(session, values))


def _provider(session: Session) -> str:
    names = [*PRESETS, _OTHER]
    session.note(_BRINGS_A_MODEL)
    session.note("Which service provides your model?")
    for number, name in enumerate(names, start=1):
        where = PRESETS[name].base_url if name in PRESETS else "any other address"
        session.note(f"  {number:2}  {name:12} {where}")
    name = _chosen(session, "number or name", names, "openai")
    return _prompt("a name for it") if name == _OTHER else name


def _chosen(
    session: Session, text: str, names: Sequence[str], default: str, what: str = "choice"
) -> str:
    """One of some names, or of their numbers; asked for again if it is unknown."""
    while True:
        said = _prompt(text, default=default)
        if said in names:
            return said
        if said.isdecimal() and 0 < int(said) <= len(names):
            return names[int(said) - 1]
        session.note(f"unknown {what} {said!r}")


def _base_url(provider: str) -> str | None:
    preset = PRESETS.get(provider)
    if preset is None:
        return _prompt("its address, such as http://localhost:8000/v1")
    said = _prompt("address", default=preset.base_url)
    return None if said == preset.base_url else said


def _protocol(session: Session, provider: str) -> str | None:
    """Let the user name the protocol of an unknown service."""
    if provider in PRESETS:
        return None
    names = sorted({each.found.name for each in session.engine.plugins.list((MODELS,))})
    text = f"its protocol ({', '.join(names)})"
    return _chosen(session, text, names, DEFAULT_PROTOCOL, "protocol")


def _key(session: Session, provider: str) -> str | None:
    preset = PRESETS.get(provider)
    variable = preset.key_variable if preset else None
    if preset is not None and variable is None:
        return None
    if variable is not None and session.env.get(variable):
        session.note(f"the key is in {variable}; leave it empty to use that")
    text = "API key (not shown; empty for none)"
    said: str = click.prompt(text, default="", show_default=False, hide_input=True, err=True)
    return said.strip() or None


def _model(session: Session, values: "SetupValues") -> str:
    """Let the user choose one of the models that the service lists."""
    names, why = models_of(_somewhere(session, values))
    if not names:
        session.note(f"the service does not list its models: {why or 'the list is empty'}")
        return _prompt("name of the model")
    for number, name in enumerate(names[:_MODELS_SHOWN], start=1):
        session.note(f"  {number:2}  {name}")
    if len(names) > _MODELS_SHOWN:
        session.note(f"  … and {len(names) - _MODELS_SHOWN} more")
    said = _prompt("model, number or name", default=names[0])
    by_number = said.isdecimal() and 0 < int(said) <= len(names) and said not in names
    return names[int(said) - 1] if by_number else said


def _somewhere(session: Session, values: "SetupValues") -> "Model":
    from uwf_core.api.models import Model
    from uwf_core.config.setup import usual_protocol

    preset = PRESETS.get(values.provider)
    base_url = values.base_url or (preset.base_url if preset else "")
    variable = preset.key_variable if preset else None
    key = values.api_key or (session.env.get(variable) if variable else None)
    protocol = values.protocol or usual_protocol(values.provider)
    return Model(
        alias="",
        name="",
        provider=values.provider,
        base_url=base_url,
        api_key=key,
        protocol=protocol,
    )


def _prompt(text: str, default: str | None = None) -> str:
    said: str = click.prompt(text, default=default, err=True)
    return said.strip()
