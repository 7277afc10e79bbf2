"""A recorded step once more: a fork at the step before, in another store, and one step of it.

The engine makes the step as it makes any other: the same stages, prompt, schema and corrections.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.agents.choose import player_of, resolve_agent
from uwf_core.engine.agents import check_choice, is_imported, mark_imported, usual_agent
from uwf_core.engine.context import GO_ON, Intent, RunOptions
from uwf_core.engine.fork import decision_at, fork_at
from uwf_core.engine.locking import locked_thread
from uwf_core.engine.results import save_run
from uwf_core.errors import UsageError, WrongStateError
from uwf_core.files.restore import restore
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.calls import CALL_AGENT
from uwf_core.thread.decisions import call_of, session_of, workspace_of
from uwf_core.thread.history import (
    Step,
    is_answer,
    is_start,
    read_start,
    root_task,
    text_at,
    unordered_events,
)
from uwf_core.views.recorded import open_step
from uwf_core.workflow.definition import PROGRAM, START

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from uwf_core.cas.store import Store
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.results import Outcome
    from uwf_core.engine.watch import Watch
    from uwf_core.process.cancel import Cancel
    from uwf_core.thread.types import NextPayload, StepPayload
    from uwf_core.workflow.definition import Definition

PERSON = "human"


class StepInput(NamedTuple):
    """A recorded step as the input of further runs of its role.

    Attributes:
        step, thread, number, role: the step.
        workflow: the reference of the workflow that chose the role.
        head: the step or start at which a fork makes it again: the one before it, or the one that
            it replaces.
        intent: what a person asked for.
        call: the calling thread and the task of the root; None in a root.
        base: the folder of the thread at that time. cwd: of the step, below it.
        top, tree: the recorded folder, and its files before the step; None: not recorded.
        compacted: the event of the summary that the thread had.
        agent: the word that the thread has for the role's agent; None: the configuration decides.
        by_person: whether a person made it. is_imported: whether its thread came with a bundle.
        own_session: whether it continued a session that knew earlier steps.
        prompt: exactly what its agent got. status, output: what it delivered.
    """

    step: str
    thread: str
    number: int
    role: str
    workflow: str
    head: str
    intent: Intent
    call: tuple[str, str] | None
    base: str
    cwd: str
    top: str
    tree: str | None
    compacted: str | None
    agent: str | None
    by_person: bool
    is_imported: bool
    own_session: bool
    prompt: str
    status: str
    output: "Mapping[str, Any]"

    @property
    def nodes(self) -> list[str]:
        """The nodes on which the thread of another run depends."""
        return [self.head, *([] if self.compacted is None else [self.compacted])]


class Reruns:
    """Makes recorded steps again, for a program."""

    def __init__(self, engine: "Engine", watch: "Watch") -> None:
        self._engine = engine
        self._watch = watch

    def step_input(self, step: str) -> StepInput:
        """The input of a recorded step, for `begin_step` and `run_step`.

        Raises:
            UnknownIdError: unknown step.
            WrongStateError: it cannot be made again, for the reason in the message.
        """
        found = open_step(self._engine, step)
        return _input_of(self._engine.store, Step(Ref(found.ref), found.node))

    def check_step(
        self, given: StepInput, workflow: Ref | None = None, agent: str | None = None
    ) -> None:
        """Check that an agent (None: the one of the thread, or the configured one) can make a step
        again, in a published workflow (None: its own).

        Raises:
            WrongStateError: the workflow does not lead from the step before to the role, or no
                agent plays it there.
            UsageError: a person plays the role, and no agent is chosen; or the agent is unknown.
        """
        engine, start = self._engine, _start(self._engine, given)
        definition = engine.definition(workflow or Ref(given.workflow))
        _check_route(engine, given, definition)
        role = definition.roles[given.role]
        if role.calls or role.program is not None:
            who = "a program" if role.program is not None else "another workflow"
            raise WrongStateError(
                f"{who} plays the role {given.role} in the workflow {definition.name}",
                hint="name a workflow in which an agent plays it",
            )
        word = agent or given.agent
        begun = read_start(engine.store, start)
        catalog = engine.agent_catalog(given.base)
        if word is not None:
            choice = resolve_agent(word, catalog)
        else:
            player = player_of(given.role, role)
            choice = usual_agent(engine, catalog, definition.name, player, begun)
            check_choice(engine.store, start, choice)
        engine.check_plugin(choice.plugin)
        if choice.name == PERSON:
            raise UsageError(
                f"a person plays the role {given.role}, and nobody answers here",
                where=f"step {given.step}",
                hint="choose an agent for it with --agent NAME",
            )

    def begin_step(self, given: StepInput, workflow: Ref, cwd: str) -> str:
        """Create a thread in which a step of another store is next, in the folder `cwd`; return its
        id. `given.nodes` and the workflow were copied to this store (`NodeStore.copy`).

        Raises:
            StoreError: a node of the recorded thread is missing or damaged.
            WrongStateError: the workflow cannot continue from the step before.
        """
        engine, head = self._engine, Ref(given.head)
        thread, start = engine.thread_ids.new(engine.now_ms()), _start(engine, given)
        with engine.store.transaction():
            if given.is_imported:
                mark_imported(engine.store, start)
            fork_at(engine, thread, head, workflow, compacted=given.compacted, cwd=cwd)
        return thread

    def restore_files(self, given: StepInput, folder: str) -> None:
        """Put the recorded files of a step (`given.tree`) into an empty folder.

        Raises:
            StoreError: they are missing or damaged.
        """
        assert given.tree is not None
        restore(self._engine.home, given.tree, folder)

    def run_step(
        self, thread: str, given: StepInput, agent: str | None, cancel: "Cancel"
    ) -> "Outcome":
        """Make that step, with the agent of this word; None: as `check_step`."""
        from uwf_core.engine.run import run_steps  # not for a program that only counts

        options = RunOptions(player=agent, call=given.call, in_copy=True)
        with locked_thread(self._engine, thread, self._watch, cancel) as run:
            return save_run(run, run_steps(run, options, given.intent))


def _input_of(store: "Store", step: Step) -> StepInput:
    payload, asked = step.payload, step.payload["attempt"]
    _check_kind(store, step)
    head = Ref(asked["replaces"] or payload["prev"] or payload["start"])
    start = read_start(store, Ref(payload["start"]))
    output, by_person = store.payload(Ref(payload["output"])), payload["agent"] == PERSON
    bound = (start["bindings"] or {}).get(payload["role"])
    base = _folder(store, step, start["cwd"])
    _check_folder(step, base)
    imported, workspace = is_imported(store, payload["start"]), workspace_of(payload)
    summaries = [each.ref for each in _events(store, payload) if each.kind == "compacted"]
    return StepInput(
        step=step.ref,
        thread=payload["thread"],
        number=payload["number"],
        role=payload["role"],
        workflow=payload["workflow"],
        head=head,
        intent=_intent(store, step, head),
        call=_call(store, payload, start["parent"]),
        base=base,
        cwd=asked["cwd"],
        top=base if workspace is None else workspace["folder"],
        tree=None if workspace is None else workspace["before"]["tree"],
        compacted=summaries[-1] if summaries else None,
        agent=None if imported else bound or (None if by_person else start["agent"]),
        by_person=by_person,
        is_imported=imported,
        own_session=asked["ownSession"],
        prompt=store.text(Ref(asked["prompt"])),
        status=str(output.get("$status")),
        output=output,
    )


def _check_kind(store: "Store", step: Step) -> None:
    payload: Any = step.payload
    role, thread = payload["role"], payload["thread"]
    if payload["failure"] is not None:
        raise _unusable(step, f"is a failed attempt ({payload['failure']['kind']})",
                        f"name the step after it; next: uwf step list {thread}")  # fmt: skip
    if payload["agent"] is None:
        raise _unusable(step, "was made by the engine after a failure", "name the step after it")
    if call_of(payload)["children"] is not None:
        raise _unusable(step, f"is the joint result of the branches of {role}",
                        f"name steps of the branches; next: uwf thread show {thread}")  # fmt: skip
    if payload["agent"] == CALL_AGENT:
        called = session_of(payload)["id"]
        raise _unusable(step, f"is a call: another workflow plays the role {role}",
                        f"name a step of thread {called}, which it called")  # fmt: skip
    if payload["agent"] == PROGRAM:
        raise _unusable(step, f"was made by the program of the role {role}, which gets no prompt",
                        "name a step of an agent or a person")  # fmt: skip
    answer = payload["attempt"]["answer"]
    is_reply = is_answer(answer, payload["usage"])
    if answer is not None and not (is_reply and payload["agent"] == PERSON):
        raise _unusable(step, "answers a question of its agent in the same step",
                        "name a step that was made without such a question")  # fmt: skip


def _unusable(step: Step, why: str, cure: str) -> WrongStateError:
    return WrongStateError(f"step {step.ref} cannot be run again: it {why}", hint=cure)


def _intent(store: "Store", step: Step, head: Ref) -> Intent:
    """What a person asked for; the person who plays the role is not one of them."""
    asked = step.payload["attempt"]
    said = text_at(store, asked["said"])
    if asked["replaces"] is not None:
        return Intent("poke", said)
    before = _next_of(store, head)
    if before is not None and before["status"] == "completed" and asked["purpose"] != "resume":
        raise _unusable(step, "begins a further call of its thread",
                        "name a later step of that call")  # fmt: skip
    waits = before is not None and before["status"] != "idle"
    if waits and asked["answer"] is not None:
        raise _unusable(step, "is the answer of a person to a thread that waited",
                        "name a step whose role was next")  # fmt: skip
    if asked["answer"] is not None or not (waits or said):
        return GO_ON
    return Intent("resume", said)


def _next_of(store: "Store", head: Ref) -> "NextPayload | None":
    payload = store.payload(head)
    return None if is_start(payload) else payload["next"]


def _call(store: "Store", payload: "StepPayload", parent: str | None) -> tuple[str, str] | None:
    if parent is None:
        return None
    above = store.payload(Ref(parent))
    own = [each.payload["parent"] for each in _events(store, payload) if each.kind == "called"]
    thread = own[-1] if own else above.get("thread")
    return None if thread is None else (str(thread), root_task(store, payload["start"]))


def _events(store: "Store", payload: "StepPayload") -> "Iterator[Any]":
    """The events of the thread before the step, oldest first; none of a deleted thread."""
    found = unordered_events(store, ThreadId(payload["thread"]))
    earlier = [each for each in found if each.payload["seq"] < payload["seq"]]
    yield from sorted(earlier, key=lambda each: int(each.payload["seq"]))


def _folder(store: "Store", step: Step, start: str) -> str:
    """The folder of the thread when the step was made."""
    events = [each.payload for each in _events(store, step.payload)]
    return next((each["cwd"] for each in reversed(events) if each.get("cwd")), start)


def _check_folder(step: Step, base: str) -> None:
    """Check that a copy of the thread's folder has the folder of the step."""
    from pathlib import PurePath

    cwd = step.payload["attempt"]["cwd"]
    if ".." in PurePath(cwd).parts or not PurePath(cwd).is_relative_to(base):
        raise _unusable(step, f"ran in {cwd}, outside of the folder of its thread ({base})",
                        "name a step that ran in the folder of its thread")  # fmt: skip


def _start(engine: "Engine", given: StepInput) -> Ref:
    payload = engine.store.payload(Ref(given.head))
    return Ref(given.head) if is_start(payload) else Ref(payload["start"])


def _check_route(engine: "Engine", given: StepInput, definition: "Definition") -> None:
    """Check that the workflow leads from the step before to the role of the step."""
    if given.intent.kind == "poke":
        role: str | None = given.role
    else:
        to = decision_at(engine, Ref(given.head), definition)
        role = to["role"]
        if to["status"] == "completed" and given.intent.kind == "resume":
            role = definition.graph[START]["resume"].role
    if role != given.role or role not in definition.roles:
        leads = f"leads to {role}" if role else "ends the thread"
        raise WrongStateError(
            f"the workflow {definition.name} {leads} before step {given.step}, not to {given.role}",
            hint=f"name a workflow in which {given.role} runs there; next: uwf workflow show "
            f"{definition.ref}",
        )
