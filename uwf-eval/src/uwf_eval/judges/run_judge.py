"""Runs the judges of a trial: repetitions, time limits, failures."""

import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from math import fsum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from uwf_core.api import Cancel, JudgeReply, JudgeRequest, Usage
from uwf_core.definitions import violations
from uwf_core.errors import UwfError
from uwf_eval.judges.api import READ_RECORD_ONLY, Evidence
from uwf_eval.judges.builtin_judges import builtin_judges, builtin_options, open_builtin_judge
from uwf_eval.judges.context import JudgeContext
from uwf_eval.judges.failed import JudgeAborted, JudgeFailed, JudgeNotStarted
from uwf_eval.judges.script import ScriptCall, checked_score, run_script
from uwf_eval.records import JudgeResult
from uwf_eval.task.model import JudgeSpec, Task

_NEEDS_FOLDER = frozenset(("command",))
"""Built-in judges that run or change something in the trial's folder."""
_LEAVE_SECONDS = 5.0
_TICK_SECONDS = 0.05


@dataclass(frozen=True, kw_only=True)
class _Said:
    """The replies of the repetitions; `error` ended them early."""

    replies: list[JudgeReply]
    error: str | None
    aborted: bool = False


def judge_all(
    task: Task, evidence: Evidence, known: Mapping[str, JudgeResult] = MappingProxyType({})
) -> list[JudgeResult]:
    """Run every judge of the task in order that has no result yet. The error of a judge is in its
    result, and never stops the others.
    """
    context = JudgeContext(task, evidence)
    return [known.get(spec.name) or run_judge(context, spec) for spec in task.judges]


def run_judge(context: JudgeContext, spec: JudgeSpec) -> JudgeResult:
    """Run one judge with its repetitions; an error is in the result."""
    started = time.monotonic()
    said = _ask_repeatedly(context, spec)
    scores = [reply.score for reply in said.replies if reply.score is not None]
    informs = said.error is None and not scores
    repeated = spec.repeat > 1
    return JudgeResult(
        name=spec.name,
        judge=spec.judge,
        weight=0.0 if informs else spec.weight,
        score=None if said.error is not None or informs else fsum(scores) / len(scores),
        scores=tuple(scores) if repeated else (),
        agreement=agreement_of(scores) if repeated and said.error is None else None,
        data=_data(said.replies, repeated=repeated),
        error=said.error and _of_the_task(said.error, context),
        aborted=said.aborted,
        usage=_usage(said.replies),
        duration_ms=round((time.monotonic() - started) * 1000),
    )


def _ask_repeatedly(context: JudgeContext, spec: JudgeSpec) -> _Said:
    replies: list[JudgeReply] = []
    for number in range(spec.repeat):
        try:
            replies.append(_checked(_ask_once(context, spec), spec))
        except UwfError as fault:
            aborted = isinstance(fault, JudgeAborted)
            return _Said(replies=replies, error=_error(fault, number, spec), aborted=aborted)
        except Exception as fault:
            wrong = JudgeFailed(f"{type(fault).__name__}: {fault}")
            return _Said(replies=replies, error=_error(wrong, number, spec))
    return _Said(replies=replies, error=None)


def _ask_once(context: JudgeContext, spec: JudgeSpec) -> JudgeReply:
    if spec.entry is not None:
        return _ask_script(context, spec, spec.entry)
    if spec.builtin is not None:
        return _ask_builtin(context, spec, spec.builtin)
    if spec.plugin is not None:
        where = f"judges -> {spec.name} -> options"
        judge = context.evidence.client.judge(spec.plugin, spec.options, where=where)
        return _in_a_copy(context, lambda folder: _within(context, spec, judge.judge, folder))
    raise JudgeFailed("it has neither builtin nor entry nor plugin")


def _ask_script(context: JudgeContext, spec: JudgeSpec, entry: str) -> JudgeReply:
    def run(folder: Path) -> JudgeReply:
        verdict = run_script(
            ScriptCall(
                entry=context.scripts() / entry,
                cwd=folder,
                thread=context.evidence.thread,
                env=context.environment(folder, spec.options),
                seconds=spec.timeout,
                cancel=context.evidence.cancel,
            )
        )
        context.scripts()  # detects changes of modules that it imported late
        return JudgeReply(score=verdict.score, data=verdict.data)

    return _in_a_copy(context, run)


def _ask_builtin(context: JudgeContext, spec: JudgeSpec, name: str) -> JudgeReply:
    if name not in builtin_judges():
        raise JudgeFailed(f"unknown builtin judge {name!r}", hint=", ".join(builtin_judges()))
    options = builtin_options(name, spec.options, where=f"judges -> {spec.name} -> options")
    judge = open_builtin_judge(name, options, str(context.evidence.state_dir / "builtin"))
    if name in READ_RECORD_ONLY:
        return judge.judge(_request(context, context.evidence.cwd, Cancel()))
    if name in _NEEDS_FOLDER:
        try:
            return _in_a_copy(context, lambda folder: _within(context, spec, judge.judge, folder))
        except JudgeNotStarted as fault:
            why = context.evidence.unable.get(spec.name)
            if why is None:
                raise
            raise JudgeFailed(f"{why}; {fault.message}", hint="correct the task") from fault
    return _within(context, spec, judge.judge, context.judged())


def _in_a_copy(context: JudgeContext, ask: Callable[[Path], JudgeReply]) -> JudgeReply:
    folder = context.folder()
    try:
        return ask(folder)
    finally:
        # Read-only folders may stay; they are removed with the parent folder of all copies.
        shutil.rmtree(folder.parent, ignore_errors=True)


def _within(
    context: JudgeContext,
    spec: JudgeSpec,
    judge: Callable[[JudgeRequest], JudgeReply],
    folder: Path,
) -> JudgeReply:
    """Call a judge in a separate thread of this process, which can be abandoned."""
    cancel = Cancel()
    request = _request(context, folder, cancel)
    call = _Call(lambda: judge(request))
    try:
        _wait_for(call, context.evidence.cancel, spec.timeout, _overdue(spec))
    finally:
        cancel.set("the judge has ended or timed out")
        call.done.wait(_LEAVE_SECONDS)
    return call.result()


def _overdue(spec: JudgeSpec) -> type[JudgeFailed]:
    """The error of a timeout: a judge that runs programs may be waiting for code of the agent."""
    return JudgeAborted if spec.builtin in _NEEDS_FOLDER else JudgeFailed


def _request(context: JudgeContext, folder: Path, cancel: Cancel) -> JudgeRequest:
    evidence = context.evidence
    return JudgeRequest(
        cwd=str(folder),
        thread=evidence.thread,
        record=context.evidence.record,
        model=evidence.model,
        fixture=None if evidence.fixture is None else str(evidence.fixture),
        cancel=cancel,
    )


def _wait_for(
    call: "_Call", cancel: Cancel, seconds: float, fault: type[JudgeFailed] = JudgeFailed
) -> None:
    """Wait until a call is done.

    Raises:
        JudgeFailed: the run stops; after the time limit, the class given as `fault`.
    """
    deadline = time.monotonic() + seconds
    while not call.done.wait(_TICK_SECONDS):
        if cancel.is_set():
            raise JudgeFailed("it was stopped with the run")
        if time.monotonic() > deadline:
            raise fault(f"it timed out after {seconds:g} s", hint="increase `timeout`")


class _Call:
    """A function call in a separate thread."""

    def __init__(self, function: Callable[[], JudgeReply]) -> None:
        self.done = threading.Event()
        self._function = function
        self._result: JudgeReply | None = None
        self._fault: BaseException | None = None
        threading.Thread(target=self._run, name="uwf-judge", daemon=True).start()

    def result(self) -> JudgeReply:
        """The result of the function.

        Raises:
            Exception: the one that the function raised.
        """
        if self._fault is not None:
            raise self._fault
        assert self._result is not None
        return self._result

    def _run(self) -> None:
        try:
            self._result = self._function()
        except BaseException as fault:
            self._fault = fault  # raised in `result`
        finally:
            self.done.set()


def _checked(reply: JudgeReply, spec: JudgeSpec) -> JudgeReply:
    """Validate the score and the data of a reply against the task's schema."""
    if reply.score is not None:
        checked_score(reply.score)
    wrong = violations(spec.schema or {}, dict(reply.data))
    if wrong:
        first = wrong[0]
        place = f"data.{first.path}" if first.path else "data"
        hint = "see the judge's `schema` in task.yaml" if spec.schema else None
        raise JudgeFailed(f"{place}: {first.message}", hint=hint)
    return reply


def _error(fault: UwfError, number: int, spec: JudgeSpec) -> str:
    text = f"{fault} ({fault.hint})" if fault.hint else str(fault)
    return text if spec.repeat == 1 else f"repetition {number + 1} of {spec.repeat}: {text}"


def _of_the_task(error: str, context: JudgeContext) -> str:
    """The error with the paths of the task, because the judges' copy is deleted with the trial."""
    task = context.task
    place = task.place if task.source == "folder" else str(task.folder)
    return error.replace(str(context.task_copy), place)


def _data(replies: list[JudgeReply], *, repeated: bool) -> dict[str, Any]:
    if repeated:
        return {"repetitions": [dict(reply.data) for reply in replies]}
    return dict(replies[0].data) if replies else {}


def _usage(replies: list[JudgeReply]) -> Usage:
    return reduce(Usage.plus, [reply.usage for reply in replies]) if replies else Usage()


def agreement_of(scores: Sequence[float]) -> float | None:
    """1 - the mean absolute difference of all pairs, from 0 to 1; None for fewer than two."""
    if len(scores) < 2:
        return None
    apart = [abs(one - other) for one, other in combinations(scores, 2)]
    return 1.0 - fsum(apart) / len(apart)
