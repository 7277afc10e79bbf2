"""Remove threads, free their nodes, find damage and repair it."""

from tests.store_file import opened_store
from tests.walkthrough.checking import Uwf, check


@check("thread rm", "cas gc", alone=True)
def a_removed_thread_frees_its_nodes(uwf: Uwf) -> None:
    uwf.script("Dear all -> Dear friends, for an hour")
    run = uwf.letter()
    thread, step = run["thread"], run["steps"][0]["step"]
    idle = uwf("thread start letter.yaml -p Task")["thread"]
    uwf("thread rm", idle, code=2, fails="only a finished one")
    uwf("thread rm", thread, has={"removed": True, "steps": 4})
    uwf("thread show", thread, code=2, fails="unknown thread")
    planned = uwf("cas gc --dry-run --grace 0s", has={"dryRun": True})
    uwf.expect(planned["freed"] > 0, "nothing would be freed")
    uwf("cas has", step, has={"has": True})
    uwf("cas gc --grace 0s", has={"dryRun": False, "freed": planned["freed"]})
    uwf("cas has", step, code=1)
    uwf("cas verify", has={"valid": True, "problems.#": 0})


@check("thread tag", "thread list", "thread cancel", "thread rm", "store prune", alone=True)
def threads_with_a_tag_are_found_and_removed_together(uwf: Uwf) -> None:
    first = uwf("thread start letter.yaml -p Task --tag event=fair")["thread"]
    second = uwf("thread start letter.yaml -p Other")["thread"]
    uwf("thread tag", second, "event=fair", has={"tags.event": "fair"})
    uwf("thread tag", second, "fair", code=2, fails="is not a tag")
    uwf("thread list --tag event=fair", has={"threads.#": 2})
    uwf("thread list --tag event=fair --text oTHER", has={"threads.0.thread": second})
    uwf("thread cancel --tag event=fair", code=2, fails="would cancel 2 threads")
    uwf("thread cancel --tag event=fair --yes", has={"threads.#": 2, "failed": 0})
    uwf("store prune --older-than 1h", has={"threads.#": 0})
    listed = uwf("store prune --older-than 0s --dry-run")["threads"]
    uwf.expect({first, second} <= set(listed), "a finished thread would stay")
    uwf("thread rm", first, second, has={"threads.#": 2})
    uwf("thread show", first, code=2, fails="unknown thread")


@check("cas verify", alone=True)
def damage_is_found_and_repaired_from_a_bundle(uwf: Uwf) -> None:
    uwf("cas verify", has={"valid": True})
    uwf.script("Dear neighbours -> Dear nobody else")
    thread = uwf.letter()["thread"]
    uwf("thread export -o letter.tar", thread)
    _damage(uwf, b"nobody else", b"anybody who")
    found = uwf("cas verify", code=1, has={"valid": False})
    uwf.expect(thread in found["damaged"] + found["marked"], f"the thread is not named: {found}")
    uwf("thread read", thread, code=1)
    uwf("cas verify --repair --from letter.tar", has={"valid": True})
    uwf("thread read --format text", thread, says=["Dear nobody else"])
    uwf("cas verify", has={"valid": True, "problems.#": 0, "marked.#": 0})


def _damage(uwf: Uwf, old: bytes, new: bytes) -> None:
    """Change stored bytes behind the back of uwf."""
    with opened_store(uwf.site.home / "store.db") as store:
        rows = store.execute("SELECT rowid, data FROM node").fetchall()
        for row, data in rows:
            if old in data:
                changed = (data.replace(old, new), row)
                store.execute("UPDATE node SET data = ? WHERE rowid = ?", changed)
