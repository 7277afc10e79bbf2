"""The agents, models, extractors and observers that a configuration names, resolved before they are
used.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from uwf_core.config.keys import Path, key_text
from uwf_core.config.trust import is_command_line
from uwf_core.engine.models import callable_model
from uwf_core.errors import ConfigError, PluginBroken, PluginError, UsageError
from uwf_core.plugins.scan import EXTRACTORS, MODELS, OBSERVERS

if TYPE_CHECKING:
    from uwf_core.engine.context import Run
    from uwf_core.engine.engine import Engine

Values = Iterable[tuple[Path, Any]]
"""Values of a configuration with their keys."""


def check_names(engine: "Engine", values: Values) -> None:
    """Resolve every name in `values`.

    Raises:
        ConfigError: an agent, model or extractor is unknown or may not be used, or an observer is
            unknown.
    """
    for fault in wrong_names(engine, values):
        raise fault


def check_change(engine: "Engine", path: Path, value: Any) -> None:
    """Resolve every name in a new value; check the options of an alias against its plugin's.

    Raises:
        ConfigError: as `check_names`, or the plugin has no such options.
    """
    from uwf_core.config.show import flat

    check_names(engine, flat(value, path))
    match path:
        case ("agents",) if isinstance(value, Mapping):
            for word, alias in value.items():
                _check_options(engine, word, alias)
        case ("agents", word):
            _check_options(engine, word, value)
        case ("agents", word, "use" | "options" as name) if word in engine.settings.agents:
            _check_options(engine, word, {**engine.settings.agents[word]._asdict(), name: value})


def _check_options(engine: "Engine", word: str, alias: Any) -> None:
    from uwf_core.agents.choose import Choice
    from uwf_core.engine.open_plugins import check_agent

    match alias:  # another form is rejected with the whole file
        case {"use": str(use), "options": dict(options)}:
            where = f"agents -> {word}"
            choice = Choice("plugin", word, "agents", use, use, options=options, where=where)
            with suppress(PluginError):  # the failure of a step
                check_agent(engine, choice)


def wrong_names(engine: "Engine", values: Values) -> Iterator[ConfigError]:
    """An error for each unknown name in `values`, with its key."""
    for path, value in values:
        for check, name in _names(path, value):
            try:
                check(engine, name)
            except UsageError as error:
                place = engine.settings.origin(path).place
                where = key_text(path) + (f" ({place})" if place else "")
                yield ConfigError(error.message, where=where, hint=error.hint)


def check_run(run: "Run") -> None:
    """Resolve every name in the configuration for the roles of a workflow and its extraction;
    report what its roles suggest in vain.

    Raises:
        ConfigError: as `check_names`. UsageError: the workflow may not run its programs.
    """
    if run.definition.runs_programs:
        from uwf_core.engine.program_permission import check_programs

        check_programs(run.engine, run.definition.ref)
    settings = run.engine.settings
    is_chosen = run.options.agent is not None or run.head.state.agent is not None
    overrides = {} if is_chosen else settings.agent_overrides.get(run.definition.name, {})
    workflow = run.definition.name
    values: list[tuple[Path, Any]] = [
        (("agentOverrides", workflow, role), word)
        for role, word in overrides.items()
        if role in run.definition.roles
    ]
    check_names(
        run.engine,
        [
            *values,
            (("defaultModel",), settings.default_model),
            (("modelOverrides", "extract"), settings.model_overrides.get("extract")),
            (("extractors",), settings.extractors),
        ],
    )
    for role in run.definition.roles.values():
        if role.agent is not None and not is_chosen and role.name not in overrides:
            _notice_lacking(run, role.name, "agent", lacking_agent(run.engine, role.agent))
        if role.model is not None:
            _notice_lacking(run, role.name, "model", lacking_model(run.engine, role.model))


def _notice_lacking(run: "Run", role: str, what: str, reason: str | None) -> None:
    if reason is not None:
        run.watch.notice(
            f"the {what} that the role {role} suggests is replaced by the default: {reason}"
        )


def lacking_agent(engine: "Engine", word: str) -> str | None:
    """Why the user cannot use the agent that a role suggests; None: it can be used.

    A workflow may have come with a bundle, unchecked: it never names a command to run.
    """
    if is_command_line(word):
        return f"{word[:60]!r} is not the name of an agent"
    try:
        engine.check_agent(word, engine.cwd)
    except UsageError as error:
        return error.message
    return None


def lacking_model(engine: "Engine", name: str) -> str | None:
    """Why the user cannot use the model that a role suggests; None: it can be used."""
    return None if name in engine.settings.models else f"unknown model {name!r}"


_Check = Callable[["Engine", str], object]


def _names(path: Path, value: Any) -> Iterator[tuple[_Check, str]]:
    """The names in one value, each with its check."""
    if value is None:
        return
    match path:
        case ("defaultAgent",) | ("agentOverrides", _, _):
            yield lambda engine, word: engine.check_agent(word, engine.cwd), value
        case ("agents", _, "use"):
            yield lambda engine, name: engine.check_plugin(name), value
        case ("defaultModel",) | ("modelOverrides", _):
            yield callable_model, value
        case ("providers", _, "protocol"):
            yield _found(MODELS), value
        case ("extractors",):
            yield from ((_found(EXTRACTORS), name) for name in _texts(value))
        case ("store",) if isinstance(value, str) and ":" in value:
            yield _check_store, value
        case ("plugins", "order"):
            yield from ((_check_observer, name) for name in _texts(value))


def _texts(names: Any) -> list[str]:
    """Those that can be names; another value is rejected with the whole file."""
    listed = names if isinstance(names, list | tuple) else ()
    return [name for name in listed if isinstance(name, str)]


def _found(group: str) -> _Check:
    def check(engine: "Engine", name: str) -> None:
        with suppress(PluginBroken):  # that is the failure of a step
            engine.plugins.found(group, name)

    return check


def _check_store(engine: "Engine", url: str) -> None:
    with suppress(PluginBroken):  # that is the failure of each command
        engine.check_store(url)


def _check_observer(engine: "Engine", name: str) -> None:
    """One that is blocked may be named: it has its place when it is unblocked."""
    if all(each.found.name != name for each in engine.plugins.list((OBSERVERS,))):
        engine.plugins.found(OBSERVERS, name)
