"""What `uwf agent check` asks: is the program there, which version, what is it set up with."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from uwf_agent_hermes.agent import HermesAgent, environment, hermes_home
from uwf_agent_hermes.failures import INSTALL
from uwf_agent_hermes.options import HermesOptions
from uwf_agent_hermes.overlay import text_of
from uwf_core.api import (
    AgentContext,
    Check,
    CheckRequest,
    CheckResult,
    End,
    RunLimits,
    is_secret_name,
    trial_check,
)

KNOWN_VERSIONS = ("0.19.",)
"""The versions that this adapter was tried with."""

_SECONDS = 12.0


def checks(request: CheckRequest) -> Sequence[Check]:
    """The checks of `hermes` with the options of the request; the last one is a real call."""
    options = request.options if isinstance(request.options, HermesOptions) else HermesOptions()
    looks = {"program": _program, "configuration": _configuration}
    if _found(request, options) is not None:
        looks["version"] = _version
        if request.trial:
            looks["trial"] = _trial
    return [Check(name=name, run=partial(look, request, options)) for name, look in looks.items()]


def _program(request: CheckRequest, options: HermesOptions) -> CheckResult:
    path = _found(request, options)
    if path is None:
        return CheckResult(
            state="error", message=f"there is no program {options.command!r}", hint=INSTALL
        )
    return CheckResult(state="ok", message=path)


def _found(request: CheckRequest, options: HermesOptions) -> str | None:
    path = {**request.env, **environment(options)}.get("PATH")
    return shutil.which(options.command, path=path)


def _version(request: CheckRequest, options: HermesOptions) -> CheckResult:
    short = replace(request, limits=RunLimits(seconds=_SECONDS, grace_seconds=1.0))
    argv = [options.command, "acp", *options.extra_arguments, "--version"]
    result = short.run_program(argv, env=environment(options))
    if result.end is End.TIMED_OUT:
        said = f"`{' '.join(argv)}` said nothing within {_SECONDS:g} s"
        return CheckResult(state="warning", message=said, hint="is this machine busy?")
    version = result.stdout.decode("utf-8", "replace").strip()
    if result.exit_code != 0 or not version:
        return CheckResult(
            state="error",
            message=f"`{' '.join(argv)}` ended with {result.exit_code} and printed {version!r:.80}",
            hint="it needs the extra `acp`: uv tool install 'hermes-agent[acp]'",
        )
    if not version.startswith(KNOWN_VERSIONS):
        tried = ", ".join(f"{each}x" for each in KNOWN_VERSIONS)
        hint = "up to 0.18 an answer whose stream ends early passes for a whole one"
        message = f"{version}; this adapter was tried with {tried}"
        return CheckResult(state="warning", message=message, hint=hint)
    return CheckResult(state="ok", message=version)


def _configuration(request: CheckRequest, options: HermesOptions) -> CheckResult:
    home = Path(hermes_home(options, request.env)).expanduser()
    keys = sorted(_names_of_keys(request, options, home))
    named = f"keys in {', '.join(keys)}" if keys else "no key in the environment or its .env"
    if (home / "config.yaml").is_file():
        return CheckResult(state="ok", message=f"{home / 'config.yaml'}; {named}")
    if keys:
        return CheckResult(state="warning", message=f"{home} has no config.yaml; {named}")
    return CheckResult(
        state="error",
        message=f"{home} has no config.yaml, and there is {named}",
        hint="run `hermes setup`; or name the variable of your key in `env` of the agent's alias",
    )


def _names_of_keys(request: CheckRequest, options: HermesOptions, home: Path) -> set[str]:
    """The names of the variables that hold keys; their values are shown nowhere."""
    names = {name for name, value in {**request.env, **environment(options)}.items() if value}
    for line in text_of(home / ".env").split("\n"):
        name, is_set, value = line.removeprefix("export ").partition("=")
        if is_set and value.strip() and not name.lstrip().startswith("#"):
            names.add(name.strip())
    return {name for name in names if is_secret_name(name) and name.endswith(("KEY", "TOKEN"))}


def _trial(request: CheckRequest, options: HermesOptions) -> CheckResult:
    """One tiny request to the model, in a new session."""
    agent = HermesAgent(options, AgentContext(name=request.name, state_dir=request.state_dir))
    return trial_check(agent, request, replace(options, permission="deny", mode="default"))
