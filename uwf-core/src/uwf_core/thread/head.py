"""Stage 11: the head of a thread, moved by compare-and-set together with its state."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.api.sums import NOTHING_USED, UsagePayload
from uwf_core.errors import CorruptNodeError, UnknownIdError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.decisions import (
    Caller,
    Expired,
    OpenAttempt,
    Substitute,
    Suspension,
    Wait,
    Worktree,
    session_of,
)
from uwf_core.thread.names import FINISHED, HEADS, QUEUED, TASK, UNATTENDED, Status, head_name
from uwf_core.thread.state import FOLD_VERSION, RoleSession, RoleState, ThreadState
from uwf_core.thread.used import totals_in, used_in, used_text

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
SESSION_HOSTS = "sessionHosts"
"""The tag of a queued thread with the machines of its sessions: see `session_hosts.py`. Not part of
the state.
"""
ORIGINAL = "original"
"""The tag of a thread that came from a home of the original uwf: its id there. Such a thread is
read-only: its steps are those of another engine. Not part of the state.
"""
_KEPT = TASK, IMPORTED, ORIGINAL, QUEUED, SESSION_HOSTS, UNATTENDED


class Head(NamedTuple):
    """The head of a thread: the newest step (or the start), and its state."""

    thread: ThreadId
    ref: Ref
    state: ThreadState
    variable: "Variable"

    @property
    def damage(self) -> str | None:
        """What `cas verify` has found, None if it has found nothing."""
        return self.variable.tags.get(DAMAGE)

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
        text = self.variable.tags.get(IMPORTED)
        return [] if text is None else json.loads(text)


class ThreadSummary(NamedTuple):
    """The part of a state that a row of a list shows: read for thousands of threads at once."""

    status: Status
    workflow: str
    workflow_name: str
    started_ms: int
    depth: int
    current_role: str | None = None
    steps: int = 0
    totals: UsagePayload = NOTHING_USED
    attempt: OpenAttempt | None = None
    suspension: Suspension | None = None
    wait: Wait | None = None


def create_head(store: "Store", ref: Ref, state: ThreadState) -> Head:
    """The head of a new thread."""
    from uwf_core.thread.tags import task_tag  # for new threads only

    thread, tags = ThreadId(state.thread), {**to_tags(state), **task_tag(store, state.start)}
    variable = store.set_variable(head_name(thread), ref, tags, None)
    return Head(thread, ref, state, variable)


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
        return Head(thread, Ref(variable.value), state, variable)
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
    return Head(thread, Ref(variable.value), state, variable)


def damaged_head(thread: str, why: ValueError) -> CorruptNodeError:
    """The error for a head whose tags are not those of a thread."""
    return CorruptNodeError(f"the head of thread {thread} is damaged: {why}")


def nodes_present(store: "Store", head: Head) -> bool:
    """Whether the nodes that every command needs are present: the newest and the workflow."""
    needed = {head.ref, Ref(head.state.workflow)}
    return store.present(needed) == needed


def move_head(
    store: "Store", head: Head, ref: Ref, state: ThreadState, **marks: str | None
) -> Head:
    """Move the head and the state together, if they are still those of `head`; the mark of damage
    and the other tags that are not of the state stay, but for those of `marks`.

    Raises:
        BusyError: another process moved it in the meantime.
    """
    tags = {**to_tags(state), **origin_tags(head.variable)}
    if DAMAGE in head.variable.tags:
        tags[DAMAGE] = head.variable.tags[DAMAGE]
    for mark in marks:
        if (text := marks[mark]) is None:
            tags.pop(mark, None)
        else:
            tags[mark] = text
    if state.status in FINISHED:
        tags.pop(UNATTENDED, None)
    if QUEUED in tags:
        from uwf_core.thread.session_hosts import hosts_after  # for queued threads alone

        tags.pop(SESSION_HOSTS, None)
        if hosts := hosts_after(head.session_hosts, head.state, state):
            tags[SESSION_HOSTS] = _dump(hosts)
    before, after = head.state.suspension, state.suspension
    expires = (before and before.expires) or (after and after.expires)
    if expires or UNATTENDED in tags or UNATTENDED in head.variable.tags:
        from uwf_core.thread.due import move_with_times  # not for a thread that a person runs

        moved = move_with_times(store, head, ref, state, tags)
    else:
        variable = store.set_variable(head.variable.name, ref, tags, head.variable)
        moved = Head(head.thread, ref, state, variable)
    if QUEUED in tags:
        store.tell_workers(moved.variable.name, moved)
    return moved


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
    return move_head(store, head, head.ref, head.state, **{DAMAGE: damage})


def queue_head(store: "Store", head: Head) -> Head:
    """Hand a thread to workers; raises as `move_head`."""
    return move_head(store, head, head.ref, head.state, **{QUEUED: "1"})


def mark_unattended(store: "Store", head: Head, *, is_unattended: bool) -> Head:
    """Mark whether `tick` continues a thread; the disk is not waited for. Raises as `move_head`."""
    if is_unattended is (UNATTENDED in head.variable.tags):
        return head
    with store.batch(durable=False):
        mark = {UNATTENDED: "1" if is_unattended else None}
        return move_head(store, head, head.ref, head.state, **mark)


def origin_tags(head: "Variable") -> dict[str, str]:
    """The tags of the task, of an import, of workers and of sessions, which a head keeps when its
    state changes.
    """
    tags = head.tags
    return {tag: tags[tag] for tag in _KEPT if tag in tags}


DEPTH = "depth"
"""The tag of how many calls are above the thread; every head has it, and lists filter by it."""
PARENT = "parent"
"""The tag of the thread that called this one last, by which the called threads are found."""
USED = "used"
"""The tag of what its own attempts have used (`used.used_in`)."""
_ROLE = "role."
GIVEN_TAG = "tag."
"""Before the name of a tag that a person gave: lists filter by it."""
_FOLD = "fold"

_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def totals_of(text: str | None) -> UsagePayload:
    """The totals in the tag `usage`, None without the tag.

    Raises:
        ValueError, TypeError: they are not totals.
    """
    return NOTHING_USED if text is None else totals_in(json.loads(text))


def _record(kind: Callable[..., Any]) -> tuple[Callable[[Any], str], Callable[[str], Any]]:
    return _dump, lambda text: kind(*json.loads(text))


_TEXT, _NUMBER, _JSON = (None, str), (None, int), (_dump, json.loads)
_CODECS: Mapping[str, tuple[Callable[[Any], str] | None, Callable[[str], Any]]] = {
    **dict.fromkeys(("status", "workflow", "workflow_name", "start", "cwd"), _TEXT),
    **dict.fromkeys(("current_role", "agent", "compacted"), _TEXT),
    **dict.fromkeys(("seq", "started_ms", "steps", "inherited_steps", "running_ms"), _NUMBER),
    **dict.fromkeys(("tries", "failures", "kills", "called_steps", "since_ms", DEPTH), _NUMBER),
    **dict.fromkeys(("limits", "largest", "grants"), _JSON),
    "ancestors": (_dump, lambda text: tuple(json.loads(text))),
    "totals": (lambda totals: _dump(list(totals.values())), totals_of),
    USED: (used_text, used_in),
    "worktree": _record(Worktree),
    "caller": _record(Caller),
    "attempt": _record(OpenAttempt),
    "suspension": _record(Suspension),
    "wait": _record(Wait),
    "substitutes": (
        _dump,
        lambda text: {name: Substitute(*each) for name, each in json.loads(text).items()},
    ),
    "expired": _record(Expired),
}
"""How a field of the state becomes the text of its tag (None: as it is), and the field again."""
_TAGS = {name: name[0] + name.title().replace("_", "")[1:] for name in _CODECS}
_TAGS["totals"] = "usage"
_WRITTEN = [
    (name, _TAGS[name], write, ThreadState._field_defaults.get(name))
    for name, (write, _) in _CODECS.items()
]


def to_tags(state: ThreadState) -> dict[str, str]:
    """The state as tags: text to text. `status` and `workflowName` are separate tags, so
    that lists can filter by them; empty fields are left out.
    """
    fields = state._asdict()
    tags = {_FOLD: str(FOLD_VERSION), DEPTH: str(state.depth)}
    for name, tag, write, empty in _WRITTEN:
        if (value := fields[name]) != empty:
            tags[tag] = f"{value}" if write is None else _text(tag, value, write)
    for name, role in state.roles.items():
        tags[_ROLE + name] = _text(_ROLE + name, role, _role_text)
    for name, value in state.given_tags.items():
        tags[GIVEN_TAG + name] = value
    if state.caller is not None:
        tags[PARENT] = state.caller.thread
    return tags


_MOST_WRITTEN = 1_000
_written: dict[str, tuple[Any, str]] = {}
"""The value that each tag was written for last, and its text: most outlive an event."""


def _text(tag: str, value: Any, write: Callable[[Any], str]) -> str:
    known = _written.get(tag)
    if known is None or known[0] is not value:
        if known is None and len(_written) >= _MOST_WRITTEN:  # a server sees many workflows
            _written.clear()
        known = _written[tag] = value, write(value)
    return known[1]


def _role_text(role: RoleState) -> str:
    return _dump([*role[:-1], list(role.usage.values())])


def is_current(tags: Mapping[str, str]) -> bool:
    """Whether the tags are of the current fold version; older ones must be folded again."""
    return tags.get(_FOLD) == str(FOLD_VERSION)


def from_tags(thread: str, tags: Mapping[str, str]) -> ThreadState:
    """The state in these tags.

    Raises:
        ValueError: they are not the tags of a thread.
    """
    roles = {tag[len(_ROLE) :]: text for tag, text in tags.items() if tag.startswith(_ROLE)}
    try:
        return ThreadState(
            thread=thread,
            roles={name: _role(text) for name, text in roles.items()},
            given_tags=given_tags(tags),
            **_fields(tags, _CODECS),
        )
    except (KeyError, TypeError) as error:
        needed = (tag for name, tag in _TAGS.items() if name not in ThreadState._field_defaults)
        missing = [tag for tag in needed if tag not in tags]
        why = f"{', '.join(missing)} missing" if missing else str(error)
        raise ValueError(f"not the tags of a thread: {why}") from error


def _fields(tags: Mapping[str, str], names: Iterable[str]) -> dict[str, Any]:
    return {name: _CODECS[name][1](tags[_TAGS[name]]) for name in names if _TAGS[name] in tags}


def given_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """The tags that persons gave a thread, of the tags of its head."""
    return {tag[len(GIVEN_TAG) :]: text for tag, text in tags.items() if tag.startswith(GIVEN_TAG)}


def summary_of(tags: Mapping[str, str]) -> ThreadSummary:
    """The part of the state in these tags that a list shows.

    Raises:
        ValueError: they are not the tags of a thread.
    """
    try:
        return ThreadSummary(**_fields(tags, ThreadSummary._fields))
    except (KeyError, TypeError) as error:
        raise ValueError(f"not the tags of a thread: {error}") from error


def _role(text: str) -> RoleState:
    visits, step, sessions, runs, leaf_steps, running, elapsed, result, same, used = json.loads(
        text
    )
    known = {name: RoleSession(*each) for name, each in sessions.items()}
    counted = runs, leaf_steps, running, elapsed, result, same
    return RoleState(visits, step, known, *counted, totals_in(used))
