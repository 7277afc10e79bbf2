"""The summary at the top of a page: half a page, each line with its references."""

from collections.abc import Iterator, Sequence

from uwf_core.api import RecordedEvent, RecordedStep, RecordedThread
from uwf_explain.explanation.branches import is_fan_out
from uwf_explain.explanation.statements import Statement, WhySection
from uwf_explain.explanation.words import (
    cost,
    duration,
    excerpt,
    has_all,
    moment,
    person,
    program,
    quoted,
    used,
)

_MOST = 4
"""How many parts without a known cost are named."""
_PERSONS = (
    "reopened", "said", "answer", "unanswered", "granted", "compacted", "cancelled", "worker",
)  # fmt: skip


class Summary:
    """Collects what a summary says while the steps are read."""

    def __init__(self, thread: RecordedThread) -> None:
        self._thread = thread
        self._roles: dict[str, _Role] = {}
        self._last: RecordedStep | None = None
        self._back: list[Statement] = []
        self._unknown: list[tuple[str, str]] = []
        self._lines: list[tuple[str, Statement]] = []

    def add(self, step: RecordedStep) -> None:
        """Take note of a step."""
        self._roles.setdefault(step.role, _Role()).add(step)
        self._last = step
        to = step.node["next"]["role"]
        order = list(self._roles)
        if to in self._roles and order.index(to) < order.index(step.role):
            self._back.append(_sent_back(step, to))
        if step.node["thread"] == self._thread.id and not has_all(used(step.node)):
            self._unknown.append((step.ref, f"step {step.number}"))

    def note(self, section: WhySection) -> None:
        """Take note of the statements about a step or the end."""
        for each in section.statements:
            if each.brief is not None:
                line = Statement("summary", _line(section, each, each.brief), each.refs)
                self._lines.append((each.kind, line))

    def section(self, end: Statement, events: Sequence[RecordedEvent]) -> WhySection:
        """The summary, when all steps are known; `end`: how it ended."""
        statements = [
            _introduction(self._thread, events[0]),
            self._result(end),
            *self._worked(),
            *_some(self._back, "the work was sent back"),
            *_some(self._of("rejected"), "a reply was sent back for its form"),
            *_some(self._of("attempt"), "an attempt failed"),
            *_some(self._of("question", "expired", "limit", "unrouted", "route"), "the run waited"),
            *_some(self._of(*_PERSONS), "a person decided", 8),
            _total(self._thread),
            *self._unknown_costs(events),
        ]
        return WhySection("Summary", tuple(statements))

    def _of(self, *kinds: str) -> list[Statement]:
        """One line for each statement of these kinds, with the same references."""
        return [line for kind, line in self._lines if kind in kinds]

    def _result(self, end: Statement) -> Statement:
        """How it ended, and the last decision."""
        text = f"Result: {end.text[0].lower()}{end.text[1:]}"
        last = self._last
        if last is None:
            return Statement("result", f"{text} No step was done.", end.refs)
        who = "a person" if last.is_answer else f"the {last.role}"
        if is_fan_out(last.role):
            who = f"the branches {last.role}"
        decision = "to ask a person" if last.status == "$SUSPEND" else quoted(last.status)
        text = f"{text} The last decision was {decision}, by {who} (step {last.number})."
        refs = dict.fromkeys((last.ref, str(last.node["output"]), *end.refs))
        return Statement("result", text, tuple(refs))

    def _worked(self) -> Iterator[Statement]:
        for role, steps in self._roles.items():
            done, count, runs = steps.workers, self._thread.count, steps.calls
            many = "the only step" if count == 1 else f"{steps.count} of the {count} steps"
            who = f"The role {quoted(role)}"
            if is_fan_out(role):
                who = f"The branches {quoted(role)}"
                done = {"1 other run" if runs == 1 else f"{runs} other runs": steps.first}
            text = f"{who} worked in {many}, done by {' and '.join(done)}."
            yield Statement("worked", text, tuple(done.values()))

    def _unknown_costs(self, events: Sequence[RecordedEvent]) -> Iterator[Statement]:
        asked = [each for each in events if each.kind == "asked"]
        unknown = [
            (each.ref, f"the question of the {each.payload['role']} (step {_step_of(each)})")
            for each in asked
            if each.payload["usage"]["turns"] != 0 and not has_all(each.payload["usage"])
        ]
        found = [*self._unknown, *unknown]
        if found:
            names = ", ".join(name for _, name in found[:_MOST])
            more = "" if len(found) <= _MOST else f", and {len(found) - _MOST} more"
            text = f"The cost of a part of the work is not known: {names}{more}."
            yield Statement("unknown", text, tuple(ref for ref, _ in found[:_MOST]))


class _Role:
    """The steps of a role: how many, the first, the threads that they called, who did them and in
    which step last.
    """

    def __init__(self) -> None:
        self.count = self.calls = 0
        self.first = ""
        self.workers: dict[str, str] = {}

    def add(self, step: RecordedStep) -> None:
        """Take note of a step."""
        self.count += 1
        self.first = self.first or step.ref
        self.calls += len(step.calls) if is_fan_out(step.role) else 0
        self.workers[_worker(step)] = step.ref


def _worker(step: RecordedStep) -> str:
    if step.node["agent"] is None:
        return "nobody, after a failure"
    return "a person" if step.is_answer else program(step.node["agent"])


def _step_of(event: RecordedEvent) -> int:
    """The step that the question of an `asked` event belongs to."""
    return 0 if event.call is None else int(event.call["number"])


def _sent_back(step: RecordedStep, to: str) -> Statement:
    reasons = [value for name, value in step.output.items() if name != "$status"]
    words = next((each for each in reasons if isinstance(each, str) and each.strip()), "")
    why = f": {excerpt(words)}" if words else "."
    text = f"Step {step.number}: the {step.role} decided {quoted(step.status)} and sent the work "
    return Statement(
        "summary", f"{text}back to the {to}{why}", (step.ref, str(step.node["output"]))
    )


def _introduction(thread: RecordedThread, started: RecordedEvent) -> Statement:
    workflow, by = thread.workflow, started.payload["by"]
    who = "" if by is None else f" by {person(by)}"
    text = (
        f"This page explains one run of the workflow {quoted(workflow.name)}. uwf is the tool that "
        f"ran the work and wrote this page; it calls a run a thread, and this one {thread.id}. The "
        f"run was started on {moment(thread.started_ms)}{who}, in the folder {thread.node['cwd']}. "
        "Each sentence ends with the references of the stored records that prove it; the section "
        "“Proof” explains how to verify them."
    )
    return Statement("thread", text, (started.ref, thread.start, workflow.ref))


def _total(thread: RecordedThread) -> Statement:
    text = (
        f"All attempts of this run together took {duration(thread.running_ms)}. "
        f"{cost(thread.usage)} (A token is a piece of a word, by which models and their prices "
        "count.)"
    )
    return Statement("total", text, (thread.head,))


def _line(section: WhySection, statement: Statement, brief: str) -> str:
    text = f"{brief} {excerpt(statement.quote or '')}" if brief.endswith(":") else brief
    if section.number is None:
        return text
    return f"Step {section.number}: {text[0].lower()}{text[1:]}"


def _some(lines: list[Statement], what: str, most: int = 4) -> list[Statement]:
    """The first lines and the last one, if there are many."""
    if len(lines) <= most:
        return lines
    hidden = lines[most - 1 : -1]
    text = f"After these, {what} {len(hidden)} more time{'' if len(hidden) == 1 else 's'}."
    refs = tuple(dict.fromkeys((hidden[0].refs[0], hidden[-1].refs[0])))
    return [*lines[: most - 1], Statement("summary", text, refs), lines[-1]]
