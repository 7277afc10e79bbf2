"""The questions of `uwf setup` on a terminal, all on stderr: stdout is for the result."""

import sys
from typing import TYPE_CHECKING

import click

from uwf_core.config.providers import PRESETS

if TYPE_CHECKING:
    from uwf_core.api.agent import Model
    from uwf_core.cli.session import Session
    from uwf_core.config.setup import SetupValues

_OTHER = "another"
_MODELS_SHOWN = 40


def can_ask(session: "Session") -> bool:
    """Whether the user can answer: stdin and stderr are a terminal."""
    return sys.stdin.isatty() and session.stderr.isatty()


def ask(session: "Session", given: "SetupValues") -> "SetupValues":
    """Ask for what `given` lacks.

    Raises:
        click.Abort: Ctrl-C or the end of input; nothing was written.
    """
    provider = _provider(session)
    base_url = given.base_url or _base_url(provider)
    key = given.api_key or _key(session, provider)
    values = given._replace(provider=provider, base_url=base_url, api_key=key)
    return values._replace(model=given.model or _model(session, values))


def _provider(session: "Session") -> str:
    names = [*PRESETS, _OTHER]
    session.note("Which service provides your model?")
    for number, name in enumerate(names, start=1):
        where = PRESETS[name].base_url if name in PRESETS else "any OpenAI-compatible address"
        session.note(f"  {number:2}  {name:12} {where}")
    while True:
        said = _prompt("number or name", default="openai")
        name = names[int(said) - 1] if said.isdecimal() and 0 < int(said) <= len(names) else said
        if name == _OTHER:
            return _prompt("a name for it")
        if name in names:
            return name
        session.note(f"unknown choice {said!r}")


def _base_url(provider: str) -> str | None:
    preset = PRESETS.get(provider)
    if preset is None:
        return _prompt("its address, such as http://localhost:8000/v1")
    said = _prompt("address", default=preset.base_url)
    return None if said == preset.base_url else said


def _key(session: "Session", provider: str) -> str | None:
    preset = PRESETS.get(provider)
    variable = preset.key_variable if preset else None
    if preset is not None and variable is None:
        return None
    if variable is not None and session.env.get(variable):
        session.note(f"the key is in {variable}; leave it empty to use that")
    said: str = click.prompt(
        "API key (not shown; empty for none)",
        default="",
        show_default=False,
        hide_input=True,
        err=True,
    )
    return said.strip() or None


def _model(session: "Session", values: "SetupValues") -> str:
    """Let the user choose one of the models that the service lists."""
    from uwf_core.cli.trial import models_of

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


def _somewhere(session: "Session", values: "SetupValues") -> "Model":
    from uwf_core.api.agent import Model

    preset = PRESETS.get(values.provider)
    base_url = values.base_url or (preset.base_url if preset else "")
    variable = preset.key_variable if preset else None
    key = values.api_key or (session.env.get(variable) if variable else None)
    return Model(alias="", name="", provider=values.provider, base_url=base_url, api_key=key)


def _prompt(text: str, default: str | None = None) -> str:
    said: str = click.prompt(text, default=default, err=True)
    return said.strip()
