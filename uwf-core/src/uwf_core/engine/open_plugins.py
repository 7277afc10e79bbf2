"""The agents and extractors that a run has opened."""

# Loaded by every step: pathlib is not imported for that.
# ruff: noqa: PTH118

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from uwf_core.agents.choose import Choice
from uwf_core.agents.cleaning import clean_text
from uwf_core.agents.open import OpenAgent, check_options, open_agent
from uwf_core.agents.supervise import close_call
from uwf_core.api.agent import AgentContext
from uwf_core.api.extract import Extractor, ExtractProblem, ExtractReply, ExtractRequest
from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import PRIMITIVES, ref_of
from uwf_core.engine.models import extract_model
from uwf_core.errors import AgentFailure, InternalFailure, UwfError
from uwf_core.plugins.guards import interruptible
from uwf_core.plugins.scan import AGENTS, EXTRACTORS, TOOLS
from uwf_core.plugins.status import Status
from uwf_core.process.folders import make_folder

if TYPE_CHECKING:
    from uwf_core.api.tool import LoadedTool
    from uwf_core.engine.engine import Engine


@contextmanager
def opened_agent(engine: "Engine", choice: Choice, seconds: float | None) -> Iterator[OpenAgent]:
    """Open the agent within `seconds` (None: the limit of the configuration), and close it at the
    end.

    Raises:
        UsageError: it is blocked, incompatible or claimed twice.
        PluginBroken, AgentFailure: it cannot be created, or not in time.
    """
    plugins = engine.plugins
    found = None if choice.plugin is None else plugins.found(AGENTS, choice.plugin)
    folder = _made_folder(folder_of_agent(engine.home, choice.word), engine.home)
    if found is not None and engine.agent_options:
        choice = choice._replace(options={**choice.options, **engine.agent_options})
    limit = float(seconds or engine.settings.limits.run_seconds)
    with nullcontext() if found is None else interruptible(found, limit):
        agent = open_agent(
            choice,
            lambda name: plugins.record(AGENTS, name),
            AgentContext(name=choice.word, state_dir=folder, tools=lambda: plugin_tools(engine)),
            distribution=None if found is None else str(found),
            load_attribute=lambda name, path: plugins.attribute(AGENTS, name, path),
            guard=plugins.guard,
        )
    try:
        yield agent
    finally:
        failure = close_call(agent)
        if failure is not None:
            engine.report_fault(failure)


class OpenExtractor:
    """An extractor that is ready to be called."""

    def __init__(self, engine: "Engine", name: str) -> None:
        plugins = engine.plugins
        self.name = name
        self._guard, self._origin = plugins.guard, str(plugins.found(EXTRACTORS, name))
        self._model = extract_model(engine)
        spec = plugins.record(EXTRACTORS, name)
        factory = plugins.attribute(EXTRACTORS, name, spec.factory)
        self._options = (
            plugins.attribute(EXTRACTORS, name, spec.options)() if spec.options else None
        )
        folder = os.path.join(engine.home, "extractors", name)
        context = AgentContext(name=name, state_dir=folder)
        with self._guard, _named_failure(self._origin):
            self._made: Extractor = factory(self._options, context)

    def extract(self, raw: str, schema: Mapping[str, Any]) -> ExtractReply:
        """Call it.

        Raises:
            InternalFailure: it failed, or returned something else than an `ExtractReply`.
        """
        request = ExtractRequest(raw=raw, schema=schema, model=self._model, options=self._options)
        with self._guard, _named_failure(self._origin):
            reply = self._made.extract(request)
            if not isinstance(reply, ExtractReply):
                raise TypeError(f"it returned {type(reply).__name__}, not an ExtractReply")
            if not isinstance(reply.output, Mapping | None):
                raise TypeError(f"its output is {type(reply.output).__name__}, not a mapping")
            errors = each_text(clean_text, reply.errors)
            notices = tuple(map(clean_text, reply.notices))
            return reply._replace(body=clean_text(reply.body), errors=errors, notices=notices)


class OpenPlugins:
    """The agents and extractors of one call, each opened at its first use, for all of its steps."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self._agents: dict[tuple[str, str], OpenAgent] = {}
        self._extractors: list[OpenExtractor] | None = None
        self._stack = ExitStack()

    def agent(self, choice: Choice, seconds: float | None) -> OpenAgent:
        """The chosen agent; the extractors are opened first, so that its work is not in vain.
        `seconds` is as in `opened_agent`.

        Raises:
            UsageError: a plugin is unknown, blocked, incompatible or claimed twice.
            PluginBroken, AgentFailure: it cannot be loaded or created.
        """
        _ = self.extractors
        key = choice.word, choice.name
        if key not in self._agents:
            self._agents[key] = self._stack.enter_context(
                opened_agent(self._engine, choice, seconds)
            )
        return self._agents[key]

    @property
    def extractors(self) -> "list[OpenExtractor]":
        """The extractors of the configuration, in their order."""
        if self._extractors is None:
            names = self._engine.settings.extractors
            self._extractors = [_opened_extractor(self._engine, name) for name in names]
        return self._extractors

    def close(self) -> None:
        """Close the agents."""
        self._stack.close()


def _opened_extractor(engine: "Engine", name: str) -> OpenExtractor:
    found = engine.plugins.found(EXTRACTORS, name)
    with interruptible(found, engine.settings.limits.run_seconds):
        return OpenExtractor(engine, name)


def check_agent(engine: "Engine", choice: Choice) -> None:
    """Reject an agent with invalid options. That it cannot be loaded is reported by the step.

    Raises:
        ConfigError: the options are invalid.
    """
    plugins, seconds = engine.plugins, engine.settings.limits.run_seconds
    if choice.plugin is None:
        return
    with (
        suppress(AgentFailure),
        interruptible(plugins.found(AGENTS, choice.plugin), seconds),
        plugins.guard,
    ):
        check_options(
            choice,
            lambda name: plugins.record(AGENTS, name),
            lambda name, path: plugins.attribute(AGENTS, name, path),
        )


def folder_of_agent(home: str, word: str) -> str:
    """The folder for the state of an agent, by the word that chose it; a hash replaces a word with
    special characters.
    """
    is_name = word.replace("-", "").replace("_", "").replace(".", "").isalnum() and word[0] != "."
    name = word if is_name else f"command-{ref_of(PRIMITIVES['string'], encode(word))}"
    return os.path.join(home, "agents", name)


def _made_folder(folder: str, home: str) -> str:
    """Create the folder here, so that only its owner can read it."""
    try:
        make_folder(folder)
    except OSError as error:
        raise InternalFailure(
            f"cannot create the agent's folder: {error.strerror}",
            hint=f"free some space, or make {home} writable",
        ) from error
    return folder


def plugin_tools(engine: "Engine") -> "tuple[LoadedTool, ...]":
    """Every tool of a plugin, in the order of the plugins' names, for agents with their own loop.

    A tool that cannot be loaded is reported and left out: the step does not depend on it.
    """
    from uwf_core.api.tool import LoadedTool

    plugins, loaded = engine.plugins, list[LoadedTool]()
    for plugin in plugins.list((TOOLS,)):
        name = plugin.found.name
        if plugin.status is Status.BLOCKED:
            continue
        try:
            for spec in plugins.load(TOOLS, name):
                factory = plugins.attribute(TOOLS, name, spec.factory)
                loaded.append(LoadedTool(spec=spec, tool=factory()))
        except UwfError as fault:
            engine.report_fault(fault)
        except Exception as fault:  # of the plugin's factory
            engine.report_fault(f"cannot create the tool {name!r}: {type(fault).__name__}: {fault}")
    return tuple(loaded)


@contextmanager
def _named_failure(extractor: str) -> Iterator[None]:
    """Report an error of an extractor, other than a failure of an agent, with the extractor."""
    try:
        yield
    except (KeyboardInterrupt, AgentFailure):
        raise
    except BaseException as error:
        raise InternalFailure(
            f"the extractor {extractor} failed with {type(error).__name__}: {error}",
            hint="next: uwf config set extractors '[frontmatter]'",
        ) from error


def each_text(
    change: Callable[[str], str], problems: Iterable[ExtractProblem]
) -> tuple[ExtractProblem, ...]:
    """The problems with all texts changed."""
    return tuple(ExtractProblem(change(each.path), change(each.message)) for each in problems)
