"""Tags that persons give a thread, by which lists select."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from uwf_core.engine.events import save_event
from uwf_core.engine.find import find_thread
from uwf_core.engine.locking import locked_head
from uwf_core.errors import UsageError
from uwf_core.thread.tags import check_tags
from uwf_core.views.show import show_thread

if TYPE_CHECKING:
    from uwf_core.engine.documents import ThreadDocument
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.watch import Watch
    from uwf_core.thread.head import Head

_MOST_TAGS = 50


def tag_thread(
    engine: "Engine", word: str, tags: Mapping[str, str], watch: "Watch"
) -> "ThreadDocument":
    """Give a thread tags, or remove those with an empty value.

    Raises:
        UsageError: there are too many, or one is not allowed. BusyError: another process runs it.
    """
    check_tags(tags)
    thread = find_thread(engine, word)
    with locked_head(engine, thread, watch.notice) as head, engine.store.transaction():
        save_tags(engine, head, tags)
    return show_thread(engine, thread)


def save_tags(engine: "Engine", head: "Head", tags: Mapping[str, str]) -> "Head":
    """Store the tags that differ; nothing if there are none. Within a transaction.

    Raises:
        UsageError: there are too many.
    """
    cleaned = {key: engine.redactor.text(value) for key, value in tags.items()}
    before = head.state.given_tags
    changed = {k: v or None for k, v in cleaned.items() if before.get(k) != (v or None)}
    if not changed:
        return head
    if len({**before, **changed}) > _MOST_TAGS:
        raise UsageError(
            f"thread {head.thread} would have more than {_MOST_TAGS} tags",
            hint="remove some: uwf thread tag THREAD key=",
        )
    return save_event(engine, head, "tagged", by=engine.person(), tags=changed)
