"""A thread: its state, its steps, what it calls, what it used, what its agent says now."""

from uwf_web.page import Document, Page, Visit


def read_thread(visit: Visit) -> Document:
    """The documents of the thread, one key for each command."""
    client, thread = visit.client, visit.path["thread"]
    shown = client.show(thread)
    return {
        "thread": shown,
        "steps": list(client.steps(thread)),
        "workflow": client.workflow(shown["workflow"]),
        "usage": client.usage(thread),
        "turns": list(client.turns(thread, running=True)) if shown["running"] else [],
        "plugins": client.plugins(),
    }


def _commands(visit: Visit) -> tuple[str, ...]:
    thread = visit.path["thread"]
    return (
        f"uwf thread show {thread}",
        f"uwf step list {thread}",
        f"uwf workflow show {visit.client.show(thread)['workflow']}",
        f"uwf usage {thread}",
        f"uwf step turns {thread} --running",
        "uwf plugin list",
    )


THREAD: Page = Page("thread.html", read_thread, _commands)
