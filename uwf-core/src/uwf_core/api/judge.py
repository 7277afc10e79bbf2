"""The judge contract: score a trial."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from uwf_core import API_VERSION
from uwf_core.api.agent import Usage
from uwf_core.api.models import Model
from uwf_core.errors import ConfigError
from uwf_core.process.cancel import Cancel


@dataclass(frozen=True, kw_only=True)
class JudgeSpec:
    """A judge as its distribution announces it; import paths are text, so nothing is loaded.

    Attributes:
        name: what a task names (`plugin: tidy`); equals the entry point's name.
        summary: one line for people.
        factory: `module:attribute`, called as `factory(options, context)`, gives a `Judge`.
        options: `module:attribute` of a frozen dataclass whose fields are the options.
        needs_model: whether it asks the model of the request; without a configured one, no trial
            starts.
        api: the version of this contract that the judge was written for.
    """

    name: str
    summary: str
    factory: str
    options: str | None = None
    needs_model: bool = False
    api: str = API_VERSION


@dataclass(frozen=True, kw_only=True)
class JudgeRequest:
    """A trial to judge. The agent has ended and cannot reach anything in it.

    Attributes:
        cwd: a copy of the trial's folder for this judge, which may change it; of a thread with
            `workspace: worktree` a copy of its worktree, as a separate repository.
        thread: its id.
        options: the judge's options of the task, an instance of the class in `JudgeSpec.options`.
        record: the thread as `uwf thread show` gives it, with the task as `prompt` and the
            documents of its steps (`uwf step show`) under `steps`; each has the documents of the
            attempts that failed before it under `attempts`. The steps of called threads are among
            them, in the order in which they ended, each before the step of its call (which has
            `childThread`); their `role` is a path: `work/writer` where the role `work` called.
            A step has the files that it delivered under `delivered` (`path`, `size`, `mode`,
            `file`: a node that `uwf cas get` reads), and its recorded files in `files.workspace`
            (the trees `before` and `after`); `files` is null without any.
            A trial of a recorded step has that one step, and the document of the recorded one under
            `recorded`.
        model: the model that `modelOverrides.judge` names, for judges that use one.
        fixture: the folder from which the trial's folder was copied, only for reading; None if
            the trial began with an empty folder.
        cancel: set when the judge's time limit is reached, or its score is no longer needed.
    """

    cwd: str
    thread: str
    record: Mapping[str, Any]
    options: Any = None
    model: Model | None = None
    fixture: str | None = None
    cancel: Cancel = field(default_factory=Cancel, repr=False)


@dataclass(frozen=True, kw_only=True)
class JudgeReply:
    """The result of a judge.

    Attributes:
        score: within 0..1, or None from a judge that only reports data.
        data: any JSON to keep with the score.
        usage: of the judge itself, if it asks a model.
    """

    score: float | None
    data: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)


def needed_model(model: Model | None) -> Model:
    """The model of a judge that asks one.

    Raises:
        ConfigError: none is configured.
    """
    if model is None:
        raise ConfigError(
            "no model is configured for judges",
            hint="uwf config set modelOverrides.judge NAME, one of `models`",
        )
    return model


@runtime_checkable
class Judge(Protocol):
    """Scores a trial. A judge that fails raises; it never gives a low score instead."""

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """The score."""
