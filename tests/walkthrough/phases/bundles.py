"""A thread as one file: write it, verify it, read it back."""

from tests.import_original.homes import THREADS, write_home
from tests.walkthrough.checking import Uwf, check


@check("thread export", "bundle verify")
def a_bundle_is_complete_or_rejected(uwf: Uwf) -> None:
    run = uwf.letter()
    head = run["steps"][-1]["step"]
    exported = uwf("thread export -o letter.tar", run["thread"], has={"head": head})
    file = uwf.folder / "letter.tar"
    uwf.same("the size of the file", file.stat().st_size, exported["bytes"])
    uwf("bundle verify letter.tar", has={"root": exported["root"], "nodes": exported["nodes"]})
    content = file.read_bytes().replace(b"Dear neighbours", b"Dear strangers!")
    (uwf.folder / "altered.tar").write_bytes(content)
    uwf("bundle verify altered.tar", code=4, fails="")
    uwf("bundle verify no-such-file.tar", code=4, fails="no-such-file.tar")


@check("cas import")
def an_imported_thread_reads_as_the_exported_one(uwf: Uwf) -> None:
    run = uwf.letter()
    thread, head = run["thread"], run["steps"][-1]["step"]
    uwf("thread export -o letter.tar", thread)
    uwf("cas import --dry-run letter.tar", has={"dryRun": True, "added": 0, "thread": thread})
    copy = uwf("cas import --as-new letter.tar", has={"imported": True, "head": head})["thread"]
    uwf.expect(copy != thread, "--as-new gave no new id")
    uwf("thread show", copy, has={"head": head, "status": "completed", "steps": 4})


@check("thread export", "bundle verify", "cas import")
def a_bundle_contains_the_branches(uwf: Uwf) -> None:
    thread = uwf.survey()["thread"]
    uwf("thread resume --until-done --answer $status=good", thread, has={"status": "completed"})
    root = uwf("thread export -o survey.tar", thread)["root"]
    uwf("bundle verify survey.tar", has={"root": root})
    uwf("thread rm", thread)
    uwf("cas import survey.tar", has={"imported": True, "thread": thread})
    joint = uwf("step list", thread)["steps"][2]["step"]
    branch = uwf("step show", joint)["call"]["branches"][0]["thread"]
    uwf("thread read --format text", branch, says=["Part 0: roads"])


@check("cas import", "thread read", "thread fork")
def a_home_of_the_original_is_imported_and_forked(uwf: Uwf) -> None:
    write_home(uwf.folder / "original")
    uwf("cas import no-such-folder", code=4, fails="no-such-folder")
    (uwf.folder / "empty").mkdir()
    uwf("cas import empty", code=2, fails="neither a bundle nor a folder")
    uwf("cas import --dry-run original", has={"dryRun": True, "threads.#": len(THREADS)})
    rows = uwf("cas import original", has={"workflows.#": 2})["threads"]
    again = uwf("cas import original")["threads"]
    uwf.same("the second import", {row["result"] for row in again}, {"known"})
    loop = next(row["thread"] for row in rows if row["original"] == THREADS["loop"])
    uwf("thread read --format text", loop, says=["It does not rhyme."])
    head = uwf("thread show", loop, has={"original": THREADS["loop"], "steps": 5})["head"]
    uwf("thread exec", loop, code=2, fails="read-only")
    fork = uwf("thread fork", head)["thread"]
    uwf("thread show", fork, has={"original": None, "steps": 5, "currentRole": "critic"})
    for thread in (fork, *(row["thread"] for row in rows)):
        if thread == fork:
            uwf("thread cancel", thread)
        uwf("thread rm", thread)
