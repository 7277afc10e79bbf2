"""Find threads and steps by the words of a person: an id, a prefix of one, `@last`."""

from typing import TYPE_CHECKING

from uwf_core.errors import AmbiguousIdError, UnknownIdError
from uwf_core.ids import B32, Ref, ThreadId
from uwf_core.thread.head import DEPTH, TRIAL
from uwf_core.thread.history import is_start, is_step
from uwf_core.thread.names import HEADS, head_name

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

LAST = "@last"
SHORTEST_PREFIX = 4


def find_thread(engine: "Engine", word: str) -> ThreadId:
    """The thread with this id or unique prefix (4 characters or more), or the newest (`@last`). One
    with a damaged head is found as well; reading it raises.

    Raises:
        UnknownIdError: there is none. AmbiguousIdError: there are several.
    """
    if isinstance(word, ThreadId):  # found before: who reads its head sees whether it is there
        return word
    if word == LAST:
        return _newest(engine)
    text = f"{word}".upper()
    if ThreadId.matches(text):
        if not engine.store.rows(head_name(ThreadId(text)), limit=1):
            raise _unknown_thread(engine, word)
        return ThreadId(text)
    _check_prefix(word, text, "thread", ThreadId.LENGTH)
    found = engine.store.rows(f"{HEADS}{text}", limit=3)
    names = [variable.name.removeprefix(HEADS) for variable in found]
    if not names:
        raise _unknown_thread(engine, word)
    return ThreadId(_only(names, word, "threads"))


def find_step(engine: "Engine", word: str) -> Ref:
    """The step (or failed attempt, or start) with this id or unique prefix; the id of a thread, a
    prefix of one and `@last` mean its newest step.

    Raises:
        UnknownIdError: there is none. AmbiguousIdError: there are several.
    """
    text = f"{word}".upper()
    if word == LAST or len(text) > Ref.LENGTH:
        return _head_of(engine, find_thread(engine, word))
    if Ref.matches(text):
        refs = [Ref(text)] if engine.store.has(Ref(text)) else []
    else:
        _check_prefix(word, text, "step", Ref.LENGTH)
        refs = engine.store.find(text, limit=1000)
    steps = [ref for ref in refs if _is_of_chain(engine, ref)]
    if steps:
        return Ref(_only([str(ref) for ref in steps], word, "steps"))
    if engine.store.rows(f"{HEADS}{text}", limit=1):
        return _head_of(engine, find_thread(engine, word))
    what = f"{word!r} is not a step" if refs else f"unknown step {word!r}"
    raise UnknownIdError(what, hint="next: uwf step list THREAD")


def _head_of(engine: "Engine", thread: ThreadId) -> Ref:
    variable = engine.store.variable(head_name(thread))
    if variable is None:
        raise _unknown_thread(engine, thread)
    return Ref(variable.value)


def _is_of_chain(engine: "Engine", ref: Ref) -> bool:
    payload = engine.store.get(ref).payload
    return is_step(payload) or is_start(payload)


def _newest(engine: "Engine") -> ThreadId:
    """The newest thread that no other called and that is not one of a trial."""
    after, limit = None, 1
    while found := engine.store.rows(HEADS, after=after, limit=limit, descending=True):
        for head in found:
            if TRIAL not in head.tags and head.tags.get(DEPTH, "0") == "0":
                return ThreadId(head.name.removeprefix(HEADS))
        after, limit = found[-1].name, 512
    raise UnknownIdError(
        f"there is no thread yet in {engine.store.location()}",
        hint="next: uwf run WORKFLOW -p TEXT",
    )


def _check_prefix(word: str, text: str, what: str, length: int) -> None:
    if SHORTEST_PREFIX <= len(text) < length and set(text) <= set(B32):
        return
    raise UnknownIdError(
        f"{word!r} is not a {what} id",
        hint=f"use its id, {SHORTEST_PREFIX} or more of its first characters, or {LAST}",
    )


def _unknown_thread(engine: "Engine", word: str) -> UnknownIdError:
    return UnknownIdError(
        f"unknown thread {word!r} in {engine.store.location()}",
        hint="next: uwf thread list --all",
    )


def _only(names: list[str], word: str, what: str) -> str:
    if len(names) == 1:
        return names[0]
    shown = ", ".join(names[:3]) + ("" if len(names) <= 3 else ", …")
    raise AmbiguousIdError(
        f"{word!r} matches several {what}: {shown}",
        hint="use more of its characters",
    )
