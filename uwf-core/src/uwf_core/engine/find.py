"""Threads and steps by the words that people use: an id, a prefix of one, `@last`."""

from typing import TYPE_CHECKING

from uwf_core.errors import AmbiguousIdError, UnknownIdError
from uwf_core.ids import B32, Ref, ThreadId
from uwf_core.thread.history import is_start, is_step
from uwf_core.thread.names import HEADS, head_name

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

LAST = "@last"
SHORTEST_PREFIX = 4


def find_thread(engine: "Engine", word: str) -> ThreadId:
    """The thread that `word` means: its id, a unique prefix (4 characters or more), or `@last`.
    One whose head is damaged is found as well: whoever reads it will say so.

    Raises:
        UnknownIdError: there is none. AmbiguousIdError: there are several.
    """
    if word == LAST:
        return _newest(engine)
    text = word.upper()
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
    """The step (or failed attempt, or start) that `word` means; `@last` is the newest thread's.

    Raises:
        UnknownIdError: there is none. AmbiguousIdError: there are several.
    """
    if word == LAST:
        variable = engine.store.variable(head_name(_newest(engine)))
        assert variable is not None
        return Ref(variable.value)
    text = word.upper()
    if Ref.matches(text):
        refs = [Ref(text)] if engine.store.has(Ref(text)) else []
    else:
        _check_prefix(word, text, "step", Ref.LENGTH)
        refs = engine.store.find(text, limit=1000)
    steps = [ref for ref in refs if _is_of_chain(engine, ref)]
    if not steps:
        what = "is no step" if refs else "is not in the store"
        raise UnknownIdError(
            f"{word!r} {what}", hint="`uwf step list THREAD` shows the steps of a thread"
        )
    return Ref(_only([str(ref) for ref in steps], word, "steps"))


def _is_of_chain(engine: "Engine", ref: Ref) -> bool:
    payload = engine.store.get(ref).payload
    return is_step(payload) or is_start(payload)


def _newest(engine: "Engine") -> ThreadId:
    found = engine.store.rows(HEADS, limit=1, descending=True)
    if not found:
        raise UnknownIdError(
            f"there is no thread yet in {engine.store.location()}",
            hint="`uwf run WORKFLOW -p TEXT` starts one",
        )
    return ThreadId(found[0].name.removeprefix(HEADS))


def _check_prefix(word: str, text: str, what: str, length: int) -> None:
    if SHORTEST_PREFIX <= len(text) < length and set(text) <= set(B32):
        return
    raise UnknownIdError(
        f"{word!r} is no {what} id",
        hint=f"say its id, {SHORTEST_PREFIX} or more of its first characters, or {LAST}",
    )


def _unknown_thread(engine: "Engine", word: str) -> UnknownIdError:
    return UnknownIdError(
        f"there is no thread {word!r} in {engine.store.location()}",
        hint="`uwf thread list --all` shows all threads",
    )


def _only(names: list[str], word: str, what: str) -> str:
    if len(names) == 1:
        return names[0]
    raise AmbiguousIdError(
        f"{word!r} fits several {what}: {', '.join(names[:3])}{'' if len(names) <= 3 else ', …'}",
        hint="say more of its characters",
    )
