"""Open a chosen agent: import its factory, read its options, create it, with a thread for it."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import is_dataclass
from importlib import import_module
from queue import SimpleQueue
from typing import Any, NamedTuple

from uwf_core.agents.choose import Choice
from uwf_core.api.agent import CAPABILITIES, Agent, AgentContext, AgentSpec
from uwf_core.errors import ConfigError, PluginBroken, UwfError
from uwf_core.fields.records import read_options
from uwf_core.plugins.guards import PluginGuard

_Work = Callable[[], None]


class Done:
    """Wakes one waiting thread when a call has ended: a `threading.Event` without its condition."""

    __slots__ = ("_running",)

    def __init__(self) -> None:
        self._running = threading.Lock()
        self._running.acquire()

    def set(self) -> None:
        """End the wait; called once."""
        self._running.release()

    def is_set(self) -> bool:
        """Whether the call has ended."""
        return not self._running.locked()

    def wait(self, seconds: float) -> bool:
        """Wait at most so long; whether the call has ended."""
        ended = self._running.acquire(timeout=seconds)
        if ended:
            self._running.release()
        return ended


class AgentThread:
    """Make all calls of one agent, one after the other, in one thread: what an agent keeps for a
    thread (an event loop, a connection) is available at its next call.

    The thread starts at the first call, and ends with `end` or when this object is deleted. A
    thread that does not return from a call is abandoned, and the next call gets another.
    """

    def __init__(self, name: str) -> None:
        self._name = f"agent {name}"
        self._queue: SimpleQueue[_Work | None] | None = None
        self._done: Done | None = None

    def call(self, work: _Work) -> Done:
        """Start `work`, which raises nothing; return the signal of its end.

        Raises:
            RuntimeError: no more threads can be started.
        """
        if self._queue is None or self._done is None or not self._done.is_set():
            self._begin()
        assert self._queue is not None
        done = self._done = Done()
        self._queue.put(lambda: _do(work, done))
        return done

    def end(self) -> None:
        """End the thread after its call."""
        if self._queue is not None:
            self._queue.put(None)
            self._queue = None

    __del__ = end

    def _begin(self) -> None:
        self.end()
        queue: SimpleQueue[_Work | None] = SimpleQueue()
        # A daemon, since a thread that is stuck must not keep the process from ending.
        threading.Thread(target=_work_off, args=(queue,), name=self._name, daemon=True).start()
        self._queue = queue


def _do(work: _Work, done: Done) -> None:
    try:
        work()
    finally:
        done.set()


def _work_off(queue: "SimpleQueue[_Work | None]") -> None:
    """Keep no reference to the object whose end is the signal to stop."""
    while (work := queue.get()) is not None:
        work()
        del work


class OpenAgent(NamedTuple):
    """An agent ready to be called.

    Attributes:
        agent: the agent to call (through `uwf_core.agents.supervise`, never directly).
        capabilities: its capabilities; uwf uses no others.
        spec: the plugin's record; None for a command.
        name: as each step records it.
        origin: how messages name it, with its distribution where known.
        guard: keeps its output off our stdout.
        thread: the thread that calls it.
        options: the plugin's options as its options class; of a command, the mapping.
        env: names of the environment variables that it gets besides the standard ones.
    """

    agent: Agent
    capabilities: frozenset[str]
    spec: AgentSpec | None
    name: str
    origin: str
    guard: AbstractContextManager[None]
    thread: AgentThread
    options: Any = None
    env: tuple[str, ...] = ()


def open_agent(
    choice: Choice,
    load_plugin: Callable[[str], AgentSpec],
    context: AgentContext,
    *,
    distribution: str | None = None,
    load_attribute: Callable[[str, str], Any] | None = None,
    guard: AbstractContextManager[None] | None = None,
) -> OpenAgent:
    """Open the chosen agent.

    Args:
        choice: the result of `choose_agent`.
        load_plugin: returns the record of an installed agent.
        context: the argument of the factory.
        distribution: the plugin's distribution and version (`uwf-agent-hermes 1.2`), for messages.
        load_attribute: imports a `module:attribute` for the plugin of a name (with the markers that
            `Plugins.attribute` keeps); default: a plain import.
        guard: the `PluginGuard` of the process (`Plugins.guard`); default: a new one.

    Raises:
        ConfigError: the options are invalid.
        PluginBroken: the plugin cannot be imported or creates no agent.
        AgentFailure: raised by the plugin's factory.
    """
    guard = guard or PluginGuard()
    if choice.kind == "program":
        return _open_program(choice, guard)
    if choice.plugin is None:
        return _open_command(choice, context, guard)
    name = choice.plugin
    with guard:
        spec = load_plugin(name)
        origin = _origin(choice, spec, distribution)

        def load(path: str) -> Any:
            return load_attribute(name, path) if load_attribute else _imported(path, origin)

        factory = load(spec.factory)
        options_class = None if spec.options is None else load(spec.options)
        options = _options(choice, options_class, origin)
        agent = _made(factory, options, context, origin)
    capabilities = frozenset(spec.capabilities) & CAPABILITIES
    thread = AgentThread(choice.name)
    env = (*spec.env, *choice.env)
    return OpenAgent(agent, capabilities, spec, choice.name, origin, guard, thread, options, env)


def check_options(
    choice: Choice,
    load_plugin: Callable[[str], AgentSpec],
    load_attribute: Callable[[str, str], Any],
) -> Any:
    """The plugin's options as its options class, without creating the agent; None for a command.

    Raises:
        ConfigError: the options are invalid.
        PluginBroken: the plugin cannot be imported.
    """
    if choice.plugin is None:
        return None
    spec = load_plugin(choice.plugin)
    cls = None if spec.options is None else load_attribute(choice.plugin, spec.options)
    return _options(choice, cls, _origin(choice, spec, None))


def _open_command(
    choice: Choice, context: AgentContext, guard: AbstractContextManager[None]
) -> OpenAgent:
    from uwf_core.agents.command import CommandAgent

    program = choice.command[0]
    if program.startswith("~"):
        from pathlib import Path

        program = str(Path(program).expanduser())
    argv = (program, *choice.command[1:])
    agent = CommandAgent(argv, choice.capabilities, context, choice.options)
    return OpenAgent(
        agent,
        choice.capabilities,
        None,
        choice.name,
        f"the command {choice.word!r}",
        guard,
        AgentThread(choice.name),
        choice.options,
        choice.env,
    )


def _open_program(choice: Choice, guard: AbstractContextManager[None]) -> OpenAgent:
    """One for the programs of all roles: each request contains its command."""
    from uwf_core.agents.program import ProgramAgent

    thread, origin = AgentThread(choice.name), "the program of the role"
    return OpenAgent(ProgramAgent(), frozenset(), None, choice.name, origin, guard, thread)


def _origin(choice: Choice, spec: AgentSpec, distribution: str | None) -> str:
    by = f"of {distribution}" if distribution else f"in {spec.factory.partition(':')[0]}"
    alias = f", chosen as {choice.word!r}" if choice.word != choice.name else ""
    return f"the agent {spec.name!r} ({by}{alias})"


def _imported(path: str, origin: str) -> Any:
    """Import `module:attribute`."""
    module_name, _, attribute = path.partition(":")
    try:
        found: Any = import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except KeyboardInterrupt:
        raise
    except BaseException as fault:
        raise _broken(origin, f"cannot import {path}: {type(fault).__name__}: {fault}") from fault
    return found


def _options(choice: Choice, cls: Any, origin: str) -> Any:
    """The plugin's options as an instance of its class; None if it has no class."""
    if cls is None:
        if choice.options:
            raise ConfigError(
                f"{origin} takes no options",
                where=f"{choice.where} -> {next(iter(choice.options))}",
                hint="remove them",
            )
        return None
    if not (isinstance(cls, type) and is_dataclass(cls)):
        raise _broken(origin, f"its options ({cls!r}) are not a dataclass")
    try:
        return read_options(cls, choice.options, where=choice.where)
    except ConfigError:
        raise
    except Exception as fault:
        raise _broken(origin, f"{cls.__name__} cannot be read from JSON: {fault}") from fault


def _made(factory: Any, options: Any, context: AgentContext, origin: str) -> Agent:
    try:
        agent = factory(options, context)
    except (KeyboardInterrupt, UwfError):
        raise
    except BaseException as fault:
        from uwf_core.plugins.loading import cause_of

        raise _broken(origin, f"its factory failed: {cause_of(fault)}") from fault
    if not isinstance(agent, Agent):
        methods = ("run", "fork", "ask", "close")
        missing = ", ".join(each for each in methods if not callable(getattr(agent, each, None)))
        kind = type(agent).__name__
        raise _broken(origin, f"its factory returned {kind}, not an Agent: it has no {missing}")
    return agent


def _broken(origin: str, cause: str) -> PluginBroken:
    return PluginBroken(
        f"{origin} is broken: {cause}",
        hint="`uwf plugin list` shows its origin: correct or reinstall it, install another version "
        "of it, or block it (uwf config set --add plugins.block NAME) and use another agent",
    )
