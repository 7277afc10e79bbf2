"""The judge contract: how well did a trial go?"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol, runtime_checkable

from uwf_core.api.agent import API_VERSION, Model, Usage
from uwf_core.api.record import record


@record
class JudgeSpec:
    """A judge as its distribution announces it; see `AgentSpec` for the fields."""

    name: str
    summary: str
    factory: str
    options: str | None = None
    api: str = API_VERSION


@record
class JudgeRequest:
    """`cwd` is a copy of the trial's folder; `record` the thread as `uwf thread show` gives it,
    with the documents of its steps (`uwf step show`) under `steps`; `model` the one that
    `modelOverrides.judge` names, for judges that ask one.
    """

    cwd: str
    thread: str
    record: Mapping[str, Any]
    options: Any = None
    model: Model | None = None


@record
class JudgeReply:
    """`score` is within 0..1; `data` whatever the judge wants to keep, as JSON."""

    score: float
    data: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)


@runtime_checkable
class Judge(Protocol):
    """Scores a trial. A judge that fails raises; it never gives a low score instead."""

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """The score."""
