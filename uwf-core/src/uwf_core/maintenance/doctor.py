"""Check the installation and suggest repairs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Literal, TypedDict

from uwf_core import __version__
from uwf_core.agents.choose import resolve_agent
from uwf_core.config.home import open_to_others
from uwf_core.config.show import settings_values
from uwf_core.engine.names import wrong_names
from uwf_core.errors import UwfError
from uwf_core.maintenance.agent_ready import readiness
from uwf_core.maintenance.plugin_probe import CheckDocument, Probe, Probes
from uwf_core.maintenance.stores import check_store
from uwf_core.plugins.describe import dependencies
from uwf_core.plugins.loading import name_to_type
from uwf_core.plugins.repair import repair_line
from uwf_core.plugins.scan import AGENTS, CORE
from uwf_core.process.mounts import network_kind

if TYPE_CHECKING:
    from concurrent.futures import Future

    from uwf_core.agents.choose import Choice
    from uwf_core.engine.engine import Engine
    from uwf_core.plugins.scan import EntryPoint
    from uwf_core.plugins.status import Plugin


Checks = Iterator[CheckDocument]


class DoctorDocument(TypedDict):
    """The checks of an installation, and whether none of them found an error."""

    healthy: bool
    checks: list[CheckDocument]


def diagnose(engine: "Engine", as_: Literal["tick"] | None = None) -> DoctorDocument:
    """Run all checks, also as `tick` runs by the lines of `uwf tick --print`: in its environment,
    outside of any project.
    """
    if as_ is None:
        return examine(engine)
    from uwf_core.engine.open_engine import open_engine
    from uwf_core.threads.tick_lines import needed_names, tick_env

    env = tick_env(engine)
    with closing(open_engine(env=env, cwd="/", on_fault=engine.on_fault)) as other:
        found = examine(other)
        known = other.settings.environment
    missing = [name for name in needed_names(engine) if not known.get(name)]
    hint = f"write it into {engine.home}/.env, or into the environment of the scheduler"
    checks = [_check("environment", "error", f"{name} is not set", hint) for name in missing]
    checks = checks or [_check("environment", "ok", ", ".join(env))]
    return {"healthy": found["healthy"] and not missing, "checks": [*checks, *found["checks"]]}


def examine(engine: "Engine") -> DoctorDocument:
    """Run all checks. The child processes run beside the checks in this process."""
    checks: list[CheckDocument] = []
    with Probes() as probes:
        begun = [(name, _begun(name, look, engine, probes)) for name, look in _LOOKS.items()]
        for name, results in begun:
            try:
                checks += results
            except (UwfError, OSError) as error:
                checks.append(_failed(name, error))
    return {"healthy": all(each["state"] != "error" for each in checks), "checks": checks}


def _begun(name: str, look: "Look", engine: "Engine", probes: Probes) -> Checks:
    """Start the child processes of a check; iterating over the result runs the rest."""
    try:
        return look(engine, probes)
    except (UwfError, OSError) as error:
        return iter((_failed(name, error),))


def _failed(name: str, error: UwfError | OSError) -> CheckDocument:
    return _check(name, "error", str(error), getattr(error, "hint", None))


def _check(name: str, state: str, message: str, hint: str | None = None) -> CheckDocument:
    return {"name": name, "state": state, "message": message, "hint": hint}


def _python(_engine: "Engine", _probes: Probes) -> Checks:
    import platform
    import sqlite3

    yield _check(
        "uwf",
        "ok",
        f"{__version__} on Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}",
    )


def _platform(_engine: "Engine", _probes: Probes) -> Checks:
    import sys

    if sys.platform == "darwin":
        yield _check(
            "platform",
            "warning",
            "macOS: a process that detached itself from an agent is found only by the "
            "marker in its environment, when the next command locks the thread",
            "no action needed; on Linux such processes end with the agent",
        )
    else:
        yield _check("platform", "ok", sys.platform)


def _home(engine: "Engine", _probes: Probes) -> Checks:
    from pathlib import Path

    home = Path(engine.home)
    if not home.exists():
        yield _check("home", "ok", f"{home} does not exist yet; the first command creates it")
    elif open_to_others(str(home)):
        yield _check("home", "warning", f"other users can read {home}", f"chmod 700 {home}")
    else:
        yield _check("home", "ok", str(home))
    if (kind := network_kind(str(home))) is not None:
        yield _check(
            "home",
            "warning",
            f"{home} is on a network file system ({kind}), where SQLite can lose or damage a store",
            "set UWF_HOME to a folder on a disk of this machine, or `store` to PostgreSQL",
        )


def _config(engine: "Engine", _probes: Probes) -> Checks:
    settings = engine.settings
    yield _check("configuration", "ok", "valid")
    for notice in settings.notices:
        yield _check("configuration", "warning", notice)


def _store(engine: "Engine", _probes: Probes) -> Checks:
    engine.store.variable("@uwf/doctor/none")
    yield _check("store", "ok", str(check_store(engine, None, with_root=False)["store"]))


def _libraries(engine: "Engine", _probes: Probes) -> Checks:
    used = {
        each.found.distribution for each in engine.plugins.list() if each.status.value == "ready"
    }
    for distribution in (CORE, *sorted(used - {CORE})):
        found = list(dependencies(distribution))
        for each in found:
            if not each.met:
                there = (
                    f"; installed is {each.version}" if each.version else ", which is not installed"
                )
                message = f"{distribution} needs {each.requirement}{there}"
                yield _check("libraries", "error", message, repair_line(distribution))
        if distribution == CORE and all(each.met for each in found):
            versions = ", ".join(f"{each.name} {each.version}" for each in found)
            yield _check("libraries", "ok", versions)


def _plugins(engine: "Engine", probes: Probes) -> Checks:
    plugins = [*engine.plugins.list(), *engine.plugins.misplaced()]
    ready = [plugin.found for plugin in plugins if plugin.status.value == "ready"]
    return _plugin_checks(plugins, probes.start_all(engine, ready))


def _plugin_checks(
    plugins: Sequence["Plugin"], answers: Mapping["EntryPoint", Callable[[], Probe]]
) -> Checks:
    for plugin in plugins:
        found, state = plugin.found, plugin.status.value
        name = f"{found.group.removeprefix('uwf.')} {found.name}"
        if state == "blocked":
            yield _check(name, "ok", plugin.reason)
            continue
        if state != "ready":
            hint = None if found.untrusted else f"uwf plugin check {name_to_type(found)}"
            level = "warning" if found.untrusted else "error"
            yield _check(name, level, f"{found.origin} is {state}: {plugin.reason}", hint)
            continue
        answer = answers[found]()
        if answer["reason"] is not None:
            yield _check(name, "error", answer["reason"], answer["hint"])
            continue
        by = found.origin
        if plugin.warning is not None:
            cure = "ask its author for a version that requires `uwf-core>=0.1,<1`"
            yield _check(name, "warning", f"{by}: {plugin.warning}", cure)
        else:
            yield _check(name, "ok", by)
        for each in answer["checks"]:
            yield {**each, "name": f"{name}: {each['name']}"}


def _agent(engine: "Engine", probes: Probes) -> Checks:
    word = engine.settings.default_agent
    if word is None:
        hint = "uwf config set defaultAgent NAME; uwf agent list"
        return iter((_check("default agent", "warning", "not set", hint),))
    choice = resolve_agent(word, engine.agent_catalog(engine.cwd), source="defaultAgent")
    if choice.plugin is None:
        return _agent_check(engine, choice, None)
    found = engine.plugins.found(AGENTS, choice.plugin)
    return _agent_check(engine, choice, probes.start(engine, found, [word]))


def _agent_check(engine: "Engine", choice: "Choice", answer: "Future[Probe] | None") -> Checks:
    word = choice.word
    ready = readiness(engine, choice, None if answer is None else answer.result())
    state = "ok" if ready["ready"] else "error"
    yield _check("default agent", state, f"{word}: {ready['reason'] or 'ready'}", ready["hint"])


def _names(engine: "Engine", _probes: Probes) -> Checks:
    values = [each for each in settings_values(engine.settings) if each[0] != ("defaultAgent",)]
    for fault in wrong_names(engine, values):
        yield _check("names", "error", str(fault), fault.hint)


Look = Callable[["Engine", Probes], Checks]
_LOOKS: Mapping[str, Look] = {
    "uwf": _python,
    "platform": _platform,
    "home": _home,
    "configuration": _config,
    "store": _store,
    "libraries": _libraries,
    "plugins": _plugins,
    "default agent": _agent,
    "names": _names,
}
