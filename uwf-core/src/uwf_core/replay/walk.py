"""Walk the recorded attempts of a thread through the stages, and compare what comes out.

The store has verified that a recorded node matches its reference. So if every field that the stages
compute is equal, the new node has the same reference: nothing needs to be hashed again.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from uwf_core.api.extract import ExtractReply
from uwf_core.engine.fan_out import tasks_of
from uwf_core.engine.location import folder_of_edge
from uwf_core.errors import RoutingFailed
from uwf_core.extract.typed import problem_words
from uwf_core.ids import Ref
from uwf_core.moderator.next import Transition, apply_edge, apply_start_edge
from uwf_core.replay.compare import same_text, same_value
from uwf_core.replay.position import ReplayPosition
from uwf_core.replay.prompts import Prompted, full_prompt, prompt_again
from uwf_core.replay.reply import correction_difference, extract_again, same_output
from uwf_core.thread.decisions import call_of, waits
from uwf_core.thread.history import Step, guidance_at, text_at
from uwf_core.thread.inputs import RecordedInputs
from uwf_core.thread.types import NextPayload
from uwf_core.thread.worktree import place_in_step
from uwf_core.views.recorded_step import RecordedStep
from uwf_core.workflow.definition import START
from uwf_core.workflow.fan_out import BranchTask
from uwf_core.yaml.text import frontmatter

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from uwf_core.cas.store import Store
    from uwf_core.engine.context import Task
    from uwf_core.engine.engine import Engine
    from uwf_core.replay.chain import Chain, Entry, Recorded
    from uwf_core.workflow.definition import Definition


_OF_TASK = ("number", "role", "purpose", "prev", "replaces")


def changed_fields(
    store: "Store", attempt: "Recorded", task: "Task", to: "NextPayload"
) -> list[str]:
    """The fields of the node that would be others, besides those of prompt and output."""
    payload, computed = attempt.payload, task._asdict()
    recorded = {**payload["attempt"], **payload}
    changed = [name for name in _OF_TASK if recorded[name] != computed[name]]
    for name, now in (("edgePrompt", task.base), ("said", task.said)):
        text = text_at(store, recorded[name])
        if text != now and not same_text(text or "", now or ""):
            changed.append(name)
    # The message of a failure is that of the version that recorded it.
    if to["kind"] is None and not same_value(payload["next"], dict(to)):
        changed.append("next")
    return changed


Verdict = Literal["same", "stale", "different", "unreachable"]
Part = Literal[
    "prompt", "correction", "message", "role", "location", "branches", "called", "output", "route",
    "node",
]  # fmt: skip
ASSUMED: Final = ("prompt", "correction", "message")
"""Parts after whose change the recorded reply is still an assumption that can be checked."""


class Difference(NamedTuple):
    """A part of an attempt that is not as recorded, and both texts of it."""

    part: Part
    recorded: str
    now: str


class Replayed(NamedTuple):
    """The verdict on a recorded attempt.

    Attributes:
        thread: the replayed thread that it belongs to. path: the roles that call that thread.
        differences: none for an attempt that only follows one that is not the same.
        edge: the role (or `$START`) and the status whose edge led to it, in `workflow`.
        call: the call of the thread, if that gives it another instruction.
        callers: the roles that these threads play in the workflows of their callers; as `path`, in
            which a fan-out comes with its branch.
    """

    thread: str
    path: tuple[str, ...]
    attempt: "Recorded"
    verdict: Verdict
    differences: tuple[Difference, ...] = ()
    edge: tuple[str, str] = (START, "new")
    workflow: "Definition | None" = None
    call: "Replayed | None" = None
    callers: tuple[str, ...] = ()


class Request(NamedTuple):
    """An attempt up to its prompt: what is not as recorded, and the edge that led to it.

    Attributes:
        found: the task with its prompt; None if the attempt cannot be reached.
        branches: the tasks of a fan-out, in the workflow of the replay.
        recorded_branches: in the recorded one; these if the recorded output is not of that.
    """

    found: Prompted | None
    differences: tuple[Difference, ...]
    edge: tuple[str, str]
    branches: Sequence[BranchTask] = ()
    recorded_branches: Sequence[BranchTask] = ()


class Walk:
    """The position between two attempts of a thread, and the newest output before it.

    Attributes:
        entries: the calls of the thread, each by the step after which it came (or the start).
    """

    def __init__(
        self,
        engine: "Engine",
        chain: "Chain",
        definition: "Definition",
        entries: "Mapping[str, Entry]",
    ) -> None:
        self._engine = engine
        self._start = chain.start
        self._entries = entries
        self._entered: set[str] = set()
        self._position = ReplayPosition(engine.store, chain, definition)
        self._inputs = RecordedInputs(engine.store, chain.start)
        self._newest: tuple[str, Mapping[str, Any], str] | None = None

    @property
    def folder(self) -> str:
        """The folder of the thread."""
        return self._position.state.cwd

    def request(self, attempt: "Recorded", definition: "Definition") -> Request:
        """Replay an attempt up to its prompt."""
        position, payload, edge = self._position, attempt.payload, self._edge()
        role, newest = payload["role"], self._newest
        try:
            is_other = definition.ref != position.definition.ref
            given = self._inputs.at(definition, payload)
            steps = position.steps(definition)
            route = apply_edge(definition, *newest, given, steps) if newest and is_other else None
            position.enter(definition, payload, given, route)
            if self._begin_call(payload["prev"] or self._start):
                edge = START, "resume" if newest else "new"
            found = prompt_again(self._engine.store, position, attempt)
            branches = self._branches(definition, found.task.role, found.task.number)
        except RoutingFailed as failure:
            return Request(None, (Difference("route", f"the role {role}", failure.message),), edge)
        if found.prompt is None or role not in definition.roles:
            now = f"the role {found.task.role}"
            return Request(None, (Difference("role", f"the role {role}", now),), edge)
        differences = tuple(self._of_request(attempt, found, edge))
        return Request(found, differences, edge, branches, self._branches_then(attempt, branches))

    def _branches(self, definition: "Definition", name: str, before: int) -> Sequence[BranchTask]:
        """The tasks of the branches of a fan-out. How many could be at most is not recorded."""
        role = definition.roles.get(name)
        if role is None or role.fan_out is None:
            return ()
        return tasks_of(self._engine.store, self._position, role, sys.maxsize, before=before)

    def _branches_then(
        self, attempt: "Recorded", now: Sequence[BranchTask]
    ) -> Sequence[BranchTask]:
        own = self._engine.definition(Ref(attempt.workflow))
        if not now or own.ref == self._position.definition.ref:
            return now
        try:
            return self._branches(own, attempt.payload["role"], attempt.payload["number"])
        except RoutingFailed:  # the recorded output is not that of the recorded workflow
            return now

    def _begin_call(self, prev: str) -> bool:
        """Begin the call that came after a step, if there was one."""
        entry = self._entries.get(prev)
        if entry is None or prev in self._entered:
            return self._position.state.is_entered and self._position.takes_edge()
        self._entered.add(prev)
        self._position.begin_call(entry)
        return True

    def end(self, attempt: "Recorded", found: Prompted, *, is_same: bool) -> tuple[Difference, ...]:
        """How the reply and the route of an attempt differ; moves behind it."""
        return tuple(self._of_end(attempt, found, is_same=is_same))

    def _edge(self) -> tuple[str, str]:
        """The role (or `$START`) and the status whose edge leads to the next attempt."""
        if self._newest is not None and self._position.state.status != "completed":
            role, output, _ = self._newest
            return role, str(output.get("$status"))
        return START, "new" if self._newest is None else "resume"

    def _of_request(
        self, attempt: "Recorded", found: Prompted, edge: tuple[str, str]
    ) -> Iterator[Difference]:
        """How the folder and the prompt differ."""
        recorded, now = self._folders(attempt, edge)
        if recorded != now:
            yield Difference("location", recorded, now)
        if not found.is_same:
            text = text_at(self._engine.store, attempt.payload["attempt"]["prompt"])
            yield Difference("prompt", text or "", found.prompt or "")

    def _folders(self, attempt: "Recorded", edge: tuple[str, str]) -> tuple[str, str]:
        """The folders that the edge names in the recorded workflow and in that of the replay. The
        recorded folder itself may differ from both, by a link or by `--cwd`.
        """
        position = self._position
        own = self._engine.definition(Ref(attempt.workflow))
        is_routed = position.takes_edge() and attempt.payload["attempt"]["replaces"] is None
        if not is_routed or own.ref == position.definition.ref:
            return "", ""
        try:
            then = self._transition(own, edge)
        except RoutingFailed:  # the recorded output is not that of the recorded workflow
            return "", ""
        now, cwd = self._transition(position.definition, edge), position.state.cwd
        return folder_of_edge(cwd, then.location), folder_of_edge(cwd, now.location)

    def _transition(self, definition: "Definition", edge: tuple[str, str]) -> Transition:
        (role, kind), given = edge, self._position.given
        steps = self._position.steps(definition)
        if self._newest is None or role == START:
            entry: Any = "resume" if kind == "resume" else "new"
            return apply_start_edge(definition, entry, given, steps)
        return apply_edge(definition, *self._newest, given, steps)

    def _of_end(
        self, attempt: "Recorded", found: Prompted, *, is_same: bool
    ) -> Iterator[Difference]:
        """How the reply and the route differ; moves behind the attempt."""
        payload, route = attempt.payload, None
        to: NextPayload = payload["next"]
        if attempt.kind != "asked":
            step = RecordedStep(self._engine, Step(Ref(attempt.ref), payload))  # type: ignore[arg-type]
            yield from self._of_corrections(step, found)
            if attempt.kind != "failed":
                if attempt.is_failure:
                    reply = ExtractReply(output=step.output)
                else:
                    schema = self._position.definition.roles[step.role].schema
                    reply = extract_again(step, schema)
                if reply.output is None:
                    now = "\n".join(map(problem_words, reply.errors))
                    yield Difference("output", frontmatter(step.output, step.body), now)
                    return
                if is_same and not same_output(step, reply):
                    now = frontmatter(reply.output, reply.body)
                    yield Difference("output", frontmatter(step.output, step.body), now)
                    return
                output = reply.output
                if call_of(payload)["child"] is not None:
                    output = {**output, **place_in_step(self._engine.store, payload)}
                self._newest = step.role, output, reply.body
                route, to = self._route(payload)
                yield from _of_route(payload["next"], to)
                if is_same and self._position.definition.ref == payload["workflow"]:
                    yield from self._of_node(attempt, found, to)
        self._position.pass_by(attempt, found.task, route, to)

    def _route(self, step: "Mapping[str, Any]") -> tuple[Transition | None, NextPayload]:
        """Where the output of a step leads, which is the newest."""
        position, newest = self._position, self._newest
        assert newest is not None
        try:
            steps = position.steps(before=step["number"], delivered=newest)
            route = apply_edge(position.definition, *newest, position.given, steps)
        except RoutingFailed as failure:
            return None, waits("failure", newest[0], failure.message, kind=failure.kind.word)
        return route, route.decision(step["completedAtMs"])

    def _of_corrections(self, step: RecordedStep, found: Prompted) -> Iterator[Difference]:
        if not step.node["corrections"]:
            return
        position = self._position
        guidance = guidance_at(self._engine.store, step.node["attempt"]["skills"])
        full = [full_prompt(position, found.task, guidance, typed=typed) for typed in (False, True)]
        schema = position.definition.roles[step.role].schema
        changed = correction_difference(step, schema, [found.prompt or "", *full])
        if changed is not None:
            recorded, now = changed
            part: Part = "correction" if now else "output"
            yield Difference(part, recorded, now or "the rejected reply is accepted")

    def _of_node(
        self, attempt: "Recorded", found: Prompted, to: NextPayload
    ) -> Iterator[Difference]:
        task = found.task._replace(base="") if attempt.is_fan_out else found.task
        changed = changed_fields(self._engine.store, attempt, task, to)
        if changed:
            yield Difference("node", attempt.ref, f"a node with another {', '.join(changed)}")


def _of_route(recorded: "Mapping[str, Any]", now: NextPayload) -> Iterator[Difference]:
    fields = ("status", "role", "reason")
    if any(recorded[name] != now[name] for name in fields):  # type: ignore[literal-required]
        yield Difference("route", _decision(recorded), _decision(now))
    elif recorded["reason"] == "role" and not same_text(
        recorded["message"] or "", now["message"] or ""
    ):
        yield Difference("message", recorded["message"] or "", now["message"] or "")


def _decision(to: "Mapping[str, Any]") -> str:
    """Where an output leads, in words."""
    if to["status"] == "idle":
        return f"the role {to['role']}"
    if to["status"] == "suspended":
        return f"suspended ({to['reason']}): {to['message']}"
    return str(to["status"])
