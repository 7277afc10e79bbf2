"""Judges of plugins: loaded, created with their options, and called; errors name the judge."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.api.agent import AgentContext
from uwf_core.api.judge import Judge, JudgeReply, JudgeRequest, needed_model
from uwf_core.engine.models import callable_model
from uwf_core.errors import ConfigError, InternalFailure, PluginBroken, UwfError
from uwf_core.fields.records import read_options
from uwf_core.plugins.guards import interruptible
from uwf_core.plugins.scan import JUDGES

if TYPE_CHECKING:
    from uwf_core.api.models import Model
    from uwf_core.engine.engine import Engine


class OpenJudge:
    """A judge that is ready to be called, itself a `Judge`."""

    def __init__(self, engine: "Engine", name: str, made: Judge, options: Any) -> None:
        self._guard = engine.plugins.guard
        self._origin = str(engine.plugins.found(JUDGES, name))
        self._made = made
        self._options = options

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """The score, with the options that the judge was opened with.

        Raises:
            UwfError: as the judge raised it.
            InternalFailure: it raised another error, or returned something else.
        """
        try:
            with self._guard:
                reply = self._made.judge(replace(request, options=self._options))
            if not isinstance(reply, JudgeReply):
                raise TypeError(f"it returned {type(reply).__name__}, not a JudgeReply")
        except (KeyboardInterrupt, UwfError):
            raise
        except BaseException as fault:
            raise InternalFailure(
                f"the judge {self._origin} failed with {type(fault).__name__}: {fault}"
            ) from fault
        return reply


def open_judge(engine: "Engine", name: str, options: Mapping[str, Any], *, where: str) -> OpenJudge:
    """The judge of an installed plugin.

    Args:
        engine: whose plugins they are.
        name: the entry point's.
        options: as JSON. where: their place, for messages.

    Raises:
        PluginError: it is unknown, blocked, incompatible or claimed twice.
        PluginBroken: it cannot be imported, or creates no judge.
        TimedOut: not within the limit of a run.
        ConfigError: the options are invalid, or it needs a model and none is configured.
    """
    plugins, seconds = engine.plugins, engine.settings.limits.run_seconds
    with interruptible(plugins.found(JUDGES, name), seconds), plugins.guard:
        spec = plugins.record(JUDGES, name)
        factory = plugins.attribute(JUDGES, name, spec.factory)
        cls = plugins.attribute(JUDGES, name, spec.options) if spec.options else None
        record = _options(name, cls, options, where)
        made = _made(engine, name, factory, record)
    if spec.needs_model:
        needed_model(judge_model(engine))
    return OpenJudge(engine, name, made, record)


def judge_model(engine: "Engine") -> "Model | None":
    """The model of `modelOverrides.judge`, or None.

    Raises:
        ConfigError: the model is unknown, or its provider is invalid.
    """
    alias = engine.settings.model_overrides.get("judge")
    return None if alias is None else callable_model(engine, alias)


def _options(name: str, cls: Any, options: Mapping[str, Any], where: str) -> Any:
    if cls is not None:
        return read_options(cls, options, where=where)
    if options:
        raise ConfigError(
            f"the judge {name!r} takes no options",
            where=f"{where} -> {next(iter(options))}",
            hint="remove them",
        )
    return None


def _made(engine: "Engine", name: str, factory: Any, options: Any) -> Judge:
    found = engine.plugins.found(JUDGES, name)
    context = AgentContext(name=name, state_dir=str(Path(engine.home, "judges", name)))
    try:
        made = factory(options, context)
    except (KeyboardInterrupt, UwfError):
        raise
    except BaseException as fault:
        raise PluginBroken(
            f"the judge {found} is broken: its factory failed: {type(fault).__name__}: {fault}"
        ) from fault
    if not isinstance(made, Judge):
        raise PluginBroken(
            f"the judge {found} is broken: its factory returned {type(made).__name__}, not a Judge"
        )
    return made
