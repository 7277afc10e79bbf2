"""Judges of plugins: loaded, created with their options, and called; errors name the judge."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.api.agent import AgentContext
from uwf_core.api.judge import JudgeReply, JudgeRequest, needed_model
from uwf_core.engine.models import callable_model
from uwf_core.errors import ConfigError
from uwf_core.fields.records import read_options
from uwf_core.plugins.calling import call_plugin
from uwf_core.plugins.guards import interruptible
from uwf_core.plugins.scan import JUDGES

if TYPE_CHECKING:
    from uwf_core.api.models import Model
    from uwf_core.engine.engine import Engine


class OpenJudge:
    """The judge of an installed plugin, ready to be called.

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

    def __init__(
        self, engine: "Engine", name: str, options: Mapping[str, Any], *, where: str
    ) -> None:
        plugins, seconds = engine.plugins, engine.settings.limits.run_seconds
        self._plugins, self._found = plugins, plugins.found(JUDGES, name)
        with interruptible(self._found, seconds), plugins.guard:
            spec = plugins.record(JUDGES, name)
            self._options = None
            if spec.options:
                cls = plugins.attribute(JUDGES, name, spec.options)
                self._options = read_options(cls, options, where=where)
            elif options:
                key = next(iter(options))
                message = f"the judge {name!r} takes no options"
                raise ConfigError(message, where=f"{where} -> {key}", hint="remove them")
            context = AgentContext(name=name, state_dir=str(Path(engine.home, "judges", name)))
            self._made = plugins.made(JUDGES, name, self._options, context, call="judge(request)")
        if spec.needs_model:
            needed_model(judge_model(engine))

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """The score, with the options that the judge was opened with.

        Raises:
            UwfError: as the judge raised it.
            InternalFailure: it raised another error, or returned something else.
        """

        def judged() -> JudgeReply:
            reply = self._made.judge(replace(request, options=self._options))
            if not isinstance(reply, JudgeReply):
                raise TypeError(f"it returned {type(reply).__name__}, not a JudgeReply")
            return reply

        return call_plugin(self._plugins, self._found, judged)


def judge_model(engine: "Engine") -> "Model | None":
    """The model of `modelOverrides.judge`, or None.

    Raises:
        ConfigError: the model is unknown, or its provider is invalid.
    """
    alias = engine.settings.model_overrides.get("judge")
    return None if alias is None else callable_model(engine, alias)
