"""Stage 11: the head of a thread, moved by compare-and-set together with its state."""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from uwf_core.api.sums import FIELDS, NOTHING_RESERVED, NOTHING_USED, UsagePayload
from uwf_core.errors import CorruptNodeError, UnknownIdError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.decisions import Caller, OpenAttempt, Suspension, Worktree, session_of
from uwf_core.thread.names import HEADS, TASK, Status, head_name
from uwf_core.thread.state import FOLD_VERSION, RoleSession, RoleState, ThreadState

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.cas.store import Store
    from uwf_core.thread.history import Step

DAMAGE = "damage"
"""The tag with which `cas verify` marks a thread; not part of the state."""
TRIAL = "trial"
"""The tag of the thread of a trial, which lists and `@last` leave out; not part of the state. The
next event removes it: then a person works with the thread.
"""
IMPORTED = "imported"
"""The tag of a thread that came with a bundle: the sessions that it had then. Somebody else, or the
same thread before it was removed, can use them still. Not part of the state.
"""
QUEUED = "queued"
"""The tag of a thread that was handed to workers (`--queue`): each process that moves it from
then on also writes its dispatch row. Not part of the state.
"""
SESSION_HOSTS = "sessionHosts"
"""The tag of a queued thread with the machines of its sessions: see `session_hosts.py`. Not part of
the state.
"""
ORIGINAL = "original"
"""The tag of a thread that came from a home of the original uwf: its id there. Such a thread is
read-only: its steps are those of another engine. Not part of the state.
"""
_KEPT = TASK, IMPORTED, ORIGINAL, QUEUED, SESSION_HOSTS


class Head(NamedTuple):
    """The head of a thread: the newest step (or the start), and its state.

    `damage` is what `cas verify` has found, None if it has found nothing.
    """

    thread: ThreadId
    ref: Ref
    state: ThreadState
    damage: str | None
    variable: "Variable"

    @property
    def is_queued(self) -> bool:
        """Whether it was handed to workers."""
        return QUEUED in self.variable.tags

    @property
    def session_hosts(self) -> dict[str, str]:
        """The machines of its sessions, as far as they are known."""
        named: dict[str, str] = json.loads(self.variable.tags.get(SESSION_HOSTS, "{}"))
        return named

    @property
    def at_start(self) -> bool:
        """Whether there is no step yet."""
        return self.ref == self.state.start

    @property
    def original(self) -> str | None:
        """The id of a thread of the original uwf, None for another."""
        return self.variable.tags.get(ORIGINAL)

    @property
    def imported_sessions(self) -> list[str]:
        """The sessions that a bundle named: they can hold later steps than this thread."""
        named: list[str] = json.loads(self.variable.tags.get(IMPORTED, "[]"))
        return named


class ThreadSummary(NamedTuple):
    """The part of a state that a row of a list shows: read for thousands of threads at once."""

    status: Status
    workflow: str
    workflow_name: str
    started_ms: int
    current_role: str | None
    steps: int
    totals: UsagePayload
    attempt: OpenAttempt | None
    suspension: Suspension | None
    depth: int


def create_head(store: "Store", ref: Ref, state: ThreadState) -> Head:
    """The head of a new thread."""
    from uwf_core.thread.tags import task_tag  # for new threads only

    thread, tags = ThreadId(state.thread), {**to_tags(state), **task_tag(store, state.start)}
    variable = store.set_variable(head_name(thread), ref, tags, None)
    return Head(thread, ref, state, None, variable)


def read_head(store: "Store", thread: ThreadId) -> Head:
    """The head of `thread`; a state of an older fold is folded anew.

    Raises:
        UnknownIdError: the thread is unknown.
        CorruptNodeError: its record is damaged.
    """
    variable = store.variable(head_name(thread))
    if variable is None:
        raise UnknownIdError(
            f"unknown thread {thread} in {store.location()}",
            hint="next: uwf thread list --all",
        )
    if not is_current(variable.tags):
        from uwf_core.thread.history import state_of_thread  # lists read no step

        state = state_of_thread(store, thread, Ref(variable.value))
        return Head(thread, Ref(variable.value), state, variable.tags.get(DAMAGE), variable)
    return head_of(variable)


def head_of(variable: "Variable") -> Head:
    """The head that a variable holds.

    Raises:
        CorruptNodeError: its tags are not those of a thread.
    """
    thread = ThreadId(variable.name.removeprefix(HEADS))
    try:
        state = from_tags(thread, variable.tags)
    except ValueError as error:
        raise damaged_head(thread, error) from error
    return Head(thread, Ref(variable.value), state, variable.tags.get(DAMAGE), variable)


def damaged_head(thread: str, why: ValueError) -> CorruptNodeError:
    """The error for a head whose tags are not those of a thread."""
    return CorruptNodeError(f"the head of thread {thread} is damaged: {why}")


def nodes_present(store: "Store", head: Head) -> bool:
    """Whether the nodes that every command needs are present: the newest and the workflow."""
    needed = {head.ref, Ref(head.state.workflow)}
    return store.present(needed) == needed


def move_head(store: "Store", head: Head, ref: Ref, state: ThreadState) -> Head:
    """Move the head and the state together, if they are still those of `head`.

    Raises:
        BusyError: another process moved it in the meantime.
    """
    return _moved(store, head, ref, state, head.damage)


def session_rests(store: "Store", step: "Step") -> bool:
    """Whether nothing was said in the session of a step since, as far as its own thread knows."""
    try:
        head = read_head(store, ThreadId(step.payload["thread"]))
    except UnknownIdError:  # deleted, or of another store
        return False
    is_imported = session_of(step.payload)["id"] in head.imported_sessions
    return not is_imported and _rests_at(head.state, step)


def _rests_at(state: ThreadState, step: "Step") -> bool:
    """Whether no call of its role has ended or begun since this step of the thread, so that its
    session holds nothing later.
    """
    role = step.payload["role"]
    if step.payload["failure"] is not None:
        return state.attempt is None and bool(state.seq == step.payload["seq"] + 1)
    tried = state.suspension.role if state.suspension else state.current_role
    is_tried = state.tries > 0 and tried in (role, None)
    is_running = state.attempt is not None and state.attempt.role == role
    return state.role(role).step == step.ref and not is_tried and not is_running


def mark_head(store: "Store", head: Head, damage: str | None) -> Head:
    """Mark a thread as damaged, or remove the mark; raises as `move_head`."""
    return _moved(store, head, head.ref, head.state, damage)


def queue_head(store: "Store", head: Head) -> Head:
    """Hand a thread to workers; raises as `move_head`."""
    return _moved(store, head, head.ref, head.state, head.damage, is_queued=True)


def _moved(
    store: "Store",
    head: Head,
    ref: Ref,
    state: ThreadState,
    damage: str | None,
    *,
    is_queued: bool = False,
) -> Head:
    tags = {**to_tags(state), **origin_tags(head.variable)}
    if damage is not None:
        tags[DAMAGE] = damage
    if is_queued:
        tags[QUEUED] = "1"
    if QUEUED in tags:
        from uwf_core.thread.session_hosts import hosts_after  # for queued threads alone

        tags.pop(SESSION_HOSTS, None)
        if hosts := hosts_after(head.session_hosts, head.state, state):
            tags[SESSION_HOSTS] = _dump(hosts)
    variable = store.set_variable(head.variable.name, ref, tags, head.variable)
    moved = Head(head.thread, ref, state, damage, variable)
    if QUEUED in tags:
        store.tell_workers(variable.name, moved)
    return moved


def origin_tags(head: "Variable") -> dict[str, str]:
    """The tags of the task, of an import, of workers and of sessions, which a head keeps when its
    state changes.
    """
    tags = head.tags
    return {tag: tags[tag] for tag in _KEPT if tag in tags}


_Kind = TypeVar("_Kind")

# The tag of each field.
_TEXT_TAGS = {
    "status": "status",
    "workflow": "workflow",
    "workflow_name": "workflowName",
    "start": "start",
    "cwd": "cwd",
}
_OPTIONAL_TEXT_TAGS = {"current_role": "currentRole", "agent": "agent", "compacted": "compacted"}
_NUMBER_TAGS = {
    "seq": "seq",
    "started_ms": "startedMs",
    "steps": "steps",
    "inherited_steps": "inheritedSteps",
    "running_ms": "runningMs",
    "tries": "tries",
    "called_steps": "calledSteps",
}
DEPTH = "depth"
"""The tag of how many calls are above the thread; every head has it, and lists filter by it."""
PARENT = "parent"
"""The tag of the thread that called this one last, by which the called threads are found."""
_JSON_TAGS: tuple[tuple[str, Any], ...] = (
    ("limits", None),
    ("largest", NOTHING_RESERVED),
    ("grants", {}),
    ("ancestors", ()),
    ("worktree", None),
    ("caller", None),
    ("attempt", None),
    ("suspension", None),
)
"""The fields whose tags are JSON, with the values that are left out."""
_MAPPINGS = ("limits", "largest", "grants")
_ROLE = "role."
GIVEN_TAG = "tag."
"""Before the name of a tag that a person gave: lists filter by it."""
_FOLD = "fold"


def to_tags(state: ThreadState) -> dict[str, str]:
    """The state as tags: text to text. `status` and `workflowName` are separate tags, so
    that lists can filter by them; empty fields are left out.
    """
    fields = state._asdict()
    tags = {tag: fields[name] for name, tag in _TEXT_TAGS.items()}
    tags[_FOLD] = str(FOLD_VERSION)
    tags[DEPTH] = str(state.depth)
    for name, tag in _OPTIONAL_TEXT_TAGS.items():
        if fields[name] is not None:
            tags[tag] = fields[name]
    for name, tag in _NUMBER_TAGS.items():
        if fields[name]:
            tags[tag] = str(fields[name])
    for name, role in state.roles.items():
        tags[_ROLE + name] = _dump([*role[:-1], list(role.usage.values())])
    tags |= _given(state.given_tags)
    if state.totals != NOTHING_USED:
        tags["usage"] = _dump(list(state.totals.values()))
    if state.caller is not None:
        tags[PARENT] = state.caller.thread
    for name, empty in _JSON_TAGS:
        if fields[name] != empty:
            tags[name] = _dump(fields[name])
    return tags


def _given(tags: Mapping[str, str]) -> dict[str, str]:
    return {GIVEN_TAG + name: value for name, value in tags.items()} if tags else {}


def is_current(tags: Mapping[str, str]) -> bool:
    """Whether the tags are of the current fold version; older ones must be folded again."""
    return tags.get(_FOLD) == str(FOLD_VERSION)


def from_tags(thread: str, tags: Mapping[str, str]) -> ThreadState:
    """The state in these tags.

    Raises:
        ValueError: they are not the tags of a thread.
    """
    try:
        values: dict[str, Any] = {name: tags[tag] for name, tag in _TEXT_TAGS.items()}
        for name, tag in _OPTIONAL_TEXT_TAGS.items():
            values[name] = tags.get(tag)
        for name, tag in _NUMBER_TAGS.items():
            values[name] = int(tags.get(tag, 0))
        values["roles"] = {
            tag[len(_ROLE) :]: _role(text) for tag, text in tags.items() if tag.startswith(_ROLE)
        }
        values["given_tags"] = given_tags(tags)
        values["depth"] = int(tags[DEPTH])
        values["totals"] = totals_of(tags.get("usage"))
        values |= {name: json.loads(tags[name]) for name in _MAPPINGS if name in tags}
        values["ancestors"] = tuple(json.loads(tags.get("ancestors", "[]")))
        values["worktree"] = _listed(tags, "worktree", Worktree)
        values["caller"] = _listed(tags, "caller", Caller)
        values["attempt"] = _listed(tags, "attempt", OpenAttempt)
        values["suspension"] = _listed(tags, "suspension", Suspension)
        return ThreadState(thread=thread, **values)
    except (KeyError, TypeError) as error:
        raise ValueError(f"not the tags of a thread: {error}") from error


def given_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """The tags that persons gave a thread, of the tags of its head."""
    return {tag[len(GIVEN_TAG) :]: text for tag, text in tags.items() if tag.startswith(GIVEN_TAG)}


def summary_of(tags: Mapping[str, str]) -> ThreadSummary:
    """The part of the state in these tags that a list shows.

    Raises:
        ValueError: they are not the tags of a thread.
    """
    if not tags.keys() >= _TEXTS:
        raise ValueError(f"not the tags of a thread: {', '.join(sorted(_TEXTS - tags.keys()))}")
    try:
        return ThreadSummary(
            tags["status"],  # type: ignore[arg-type]
            tags["workflow"],
            tags["workflowName"],
            int(tags.get("startedMs", 0)),
            tags.get("currentRole"),
            int(tags.get("steps", 0)),
            totals_of(tags.get("usage")),
            _listed(tags, "attempt", OpenAttempt),
            _listed(tags, "suspension", Suspension),
            int(tags[DEPTH]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"not the tags of a thread: {error}") from error


_TEXTS = frozenset(_TEXT_TAGS.values())
_TOTALS = (*(name for name, _ in FIELDS), "atLeast")


def totals_of(text: str | None) -> UsagePayload:
    """The totals in the tag `usage`, None without the tag.

    Raises:
        ValueError, TypeError: they are not totals.
    """
    totals: Any = (
        NOTHING_USED if text is None else dict(zip(_TOTALS, json.loads(text), strict=True))
    )
    return totals  # type: ignore[no-any-return]


def _listed(tags: Mapping[str, str], tag: str, kind: Callable[..., _Kind]) -> "_Kind | None":
    """The tuple that a tag holds as a list, None without the tag."""
    return kind(*json.loads(tags[tag])) if tag in tags else None


def _role(text: str) -> RoleState:
    visits, step, sessions, runs, leaf_steps, running_ms, usage = json.loads(text)
    used: Any = dict(zip(_TOTALS, usage, strict=True))
    known = {name: RoleSession(*each) for name, each in sessions.items()}
    return RoleState(visits, step, known, runs, leaf_steps, running_ms, used)


_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
