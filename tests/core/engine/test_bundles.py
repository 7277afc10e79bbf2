"""A thread goes from one store to another as a file, and both can prove that it is the same."""

import json
from pathlib import Path

import pytest
from tests.core.engine.archives import Archive, node
from tests.core.engine.conftest import APPROVED, DONE, LOOP, REJECTED, UNSURE
from tests.core.running import running

from uwf_core.client import Client
from uwf_core.errors import (
    BundleError,
    BusyError,
    CollisionError,
    CorruptNodeError,
    UsageError,
    WrongStateError,
)
from uwf_core.testing.project import Project

SECRET = "sk-live-0123456789abcdef"


@pytest.fixture
def other(tmp_path: Path) -> Project:
    """Somebody else, with a store of their own."""
    other = Project(tmp_path / "other")
    other.script([DONE, REJECTED, DONE, APPROVED])
    return other


@pytest.fixture
def bundle(project: Project, uwf: Client, thread: str, tmp_path: Path) -> Path:
    """The thread after two steps and a failed attempt."""
    project.script([DONE, REJECTED, {"role": "developer", "fail": {"kind": "crashed"}}])
    uwf.exec(thread, count=3)
    uwf.export_thread(thread, tmp_path / "thread.tar")
    return tmp_path / "thread.tar"


def command(folder: Path) -> tuple[Path, Path]:
    """An agent as a command, and the sign that it leaves whenever it is run."""
    script, sign = folder / "agent.sh", folder / "run"
    reply = json.dumps({"output": {"$status": "done"}})
    script.write_text(f"#!/bin/sh\ntouch {sign}\necho '{reply}'\n")
    script.chmod(0o755)
    return script, sign


def is_valid(uwf: Client) -> bool:
    return uwf.verify()["valid"]


def test_two_stores_exchange_a_thread_and_both_prove_the_same_root(
    uwf: Client, other: Project, thread: str, bundle: Path, tmp_path: Path
) -> None:
    with other.client() as theirs:
        took = theirs.import_bundle(bundle)
        assert (took["thread"], took["imported"], took["added"]) == (thread, True, took["nodes"])
        assert is_valid(uwf)
        assert is_valid(theirs)
        back = theirs.export_thread(thread, tmp_path / "back.tar")
        ours = uwf.export_thread(thread, tmp_path / "again.tar")
        assert Client.verify_bundle(bundle)["root"] == took["root"] == back["root"] == ours["root"]
        times = ("startedAtMs", "updatedAtMs")
        show, their_show = uwf.show(thread), theirs.show(thread)
        assert {**show, **dict.fromkeys(times)} == {**their_show, **dict.fromkeys(times)}
        assert theirs.read(thread) == uwf.read(thread)
        assert theirs.steps(thread) == uwf.steps(thread)
        assert theirs.turns(thread) == uwf.turns(thread)


def test_the_same_store_exports_the_same_bytes(
    uwf: Client, thread: str, bundle: Path, tmp_path: Path
) -> None:
    uwf.export_thread(thread, tmp_path / "again.tar")
    assert (tmp_path / "again.tar").read_bytes() == bundle.read_bytes()
    assert (tmp_path / "again.tar").stat().st_mode & 0o777 == 0o600


def test_an_imported_thread_goes_on_like_any_other(
    other: Project, thread: str, bundle: Path
) -> None:
    with other.client() as theirs:
        theirs.import_bundle(bundle)
        step = theirs.show(thread)["head"]
        assert theirs.fork(step)["thread"] != thread
        done = theirs.exec(thread, until_done=True).document
        assert done["status"] == "completed"
        assert theirs.show(thread)["steps"] == 4
        last = theirs.step(theirs.show(thread)["head"])
        assert len(theirs.step(last["prev"] or "")["previousAttempts"]) == 1
        assert is_valid(theirs)


def test_a_thread_that_is_there_is_left_as_it_is(uwf: Client, thread: str, bundle: Path) -> None:
    before = uwf._engine.store.rows("")
    took = uwf.import_bundle(bundle)
    assert (took["imported"], took["added"], took["thread"]) == (False, 0, thread)
    assert uwf._engine.store.rows("") == before


def test_a_thread_with_another_head_comes_only_as_a_new_one(
    project: Project, uwf: Client, thread: str, bundle: Path
) -> None:
    project.script([DONE, REJECTED, DONE, APPROVED])
    uwf.exec(thread)
    here = uwf.show(thread)
    with pytest.raises(WrongStateError, match="another head"):
        uwf.import_bundle(bundle)
    would = uwf.import_bundle(bundle, as_new=True, dry_run=True)
    assert would["imported"] is False
    assert len(uwf.list()) == 1
    took = uwf.import_bundle(bundle, as_new=True)
    assert took["thread"] != thread
    assert uwf.show(thread) == here
    copy = uwf.show(took["thread"])
    assert (copy["steps"], copy["status"], copy["head"]) == (2, "idle", took["head"])
    assert is_valid(uwf)
    assert uwf.exec(took["thread"], until_done=True).document["done"]
    assert is_valid(uwf)


def test_a_known_thread_can_be_imported_once_more_under_a_new_id(
    uwf: Client, thread: str, bundle: Path
) -> None:
    here = uwf.show(thread)
    assert uwf.import_bundle(bundle)["imported"] is False
    took = uwf.import_bundle(bundle, as_new=True)
    assert (took["imported"], took["added"], took["head"]) == (True, 0, here["head"])
    assert {row["thread"] for row in uwf.list()} == {thread, took["thread"]}
    assert uwf.show(thread) == here
    assert is_valid(uwf)


def test_a_dry_run_makes_nothing_not_even_a_store(other: Project, bundle: Path) -> None:
    with other.client() as theirs:
        would = theirs.import_bundle(bundle, dry_run=True)
        assert (would["added"], would["imported"]) == (would["nodes"], False)
    assert not (other.home / "store.db").exists()


def test_a_name_of_a_workflow_never_moves(
    project: Project, uwf: Client, other: Project, bundle: Path, tmp_path: Path
) -> None:
    """A bundle of ours has none; one that has brings it only where there is none yet."""
    archive = Archive(bundle)
    workflow = archive.find("roles", "graph")
    lines = [json.loads(line) for line in archive["vars.jsonl"].content.splitlines()]
    made = {**lines[0], "name": "@uwf/registry/loop", "value": workflow.name[4:17], "tags": {}}
    made["schema"] = uwf.node(workflow.name[4:17])["type"]
    lines = sorted([*lines, made], key=lambda line: str(line["name"]))
    text = "".join(json.dumps(line) + "\n" for line in lines)
    file = tmp_path / "named.tar"
    file.write_bytes(archive.rewrite("vars.jsonl", text.encode()).data())
    with other.client() as theirs:
        theirs.import_bundle(file)
        assert theirs.find_workflow("loop") == made["value"]
    mine = Project(tmp_path / "third")
    changed = mine.workflow("loop", LOOP.replace("Write it.", "Write it well."))
    with mine.client() as third:
        ref = third.add_workflow(changed)
        with pytest.raises(WrongStateError, match="registry/loop"):
            third.import_bundle(file)
        assert third.import_bundle(file, as_new=True)["imported"]
        names = third.nodes.names("@uwf/registry/")
        assert [(name.name, name.ref) for name in names] == [("@uwf/registry/loop", ref)]


def test_a_question_that_waits_can_be_answered_elsewhere(
    uwf: Client, other: Project, tmp_path: Path
) -> None:
    thread = uwf.start("loop", "The task.", agent="human")["thread"]
    uwf.exec(thread)
    uwf.export_thread(thread, tmp_path / "asked.tar")
    with other.client() as theirs:
        theirs.import_bundle(tmp_path / "asked.tar")
        assert theirs.show(thread)["form"] == uwf.show(thread)["form"]
        theirs.resume(thread, answer='{"$status": "done"}')
        assert theirs.show(thread)["steps"] == 1
        assert is_valid(theirs)


def test_what_a_bundle_says_is_never_run(
    project: Project, uwf: Client, other: Project, tmp_path: Path
) -> None:
    """The thread is bound to a command line, which would make a file where it runs."""
    script, sign = command(tmp_path)
    thread = uwf.start("loop", "The task.", agent=f"{script} --quick")["thread"]
    uwf.exec(thread)
    assert sign.exists()  # here it was said by the user
    sign.unlink()
    uwf.export_thread(thread, tmp_path / "bound.tar")
    with other.client() as theirs:
        theirs.import_bundle(tmp_path / "bound.tar")
        fork = theirs.fork(theirs.show(thread)["head"])["thread"]
        for each in (thread, fork):
            with pytest.raises(UsageError, match="bundle"):
                theirs.exec(each)
        assert not sign.exists()
        assert theirs.exec(thread, agent="mock").document["steps"][0]["agent"] == "mock"
        assert is_valid(theirs)
    uwf.import_bundle(tmp_path / "bound.tar")
    uwf.exec(thread)
    assert sign.exists()  # its own home it is still in


def test_a_step_by_a_command_of_elsewhere_is_poked_by_none(
    uwf: Client, other: Project, tmp_path: Path
) -> None:
    script = tmp_path / "agent.sh"
    sign = tmp_path / "run"
    script.write_text(f'#!/bin/sh\ntouch {sign}\necho \'{{"output": {{"$status": "done"}}}}\'\n')
    script.chmod(0o755)
    thread = uwf.start("loop", "The task.")["thread"]
    assert uwf.exec(thread, agent=str(script)).document["steps"][0]["failure"] is None
    sign.unlink()
    uwf.export_thread(thread, tmp_path / "run.tar")
    with other.client() as theirs:
        theirs.import_bundle(tmp_path / "run.tar")
        with pytest.raises(UsageError, match="bundle"):
            theirs.poke(thread, "again")
        with pytest.raises(UsageError, match="bundle"):
            theirs.ask(theirs.show(thread)["head"], "why?")
    assert not sign.exists()


def test_a_start_that_comes_hidden_in_another_thread_is_foreign_as_well(
    uwf: Client, other: Project, tmp_path: Path
) -> None:
    """`parent` leads from one start to another: the second bundle must not find it at home."""
    thread = uwf.start("loop", "The task.", agent="/bin/false x")["thread"]
    store = uwf._engine.store
    inner = store.variable(f"@uwf/thread/{thread}").value  # type: ignore[union-attr]
    uwf.export_thread(thread, tmp_path / "inner.tar")
    with other.client() as theirs:
        theirs.import_bundle(tmp_path / "inner.tar")
        names = theirs.nodes.names("@uwf/foreign/")
        assert [name.ref for name in names] == [inner]


def test_a_secret_that_is_known_by_now_is_not_given_away(
    project: Project, uwf: Client, thread: str, tmp_path: Path
) -> None:
    said = {"role": "developer", "output": f"---\n$status: done\n---\nThe key is {SECRET}.\n"}
    project.script([said])
    uwf.exec(thread)
    uwf.export_thread(thread, tmp_path / "before.tar")
    project.env["SHOP_API_KEY"] = SECRET
    with project.client() as knowing, pytest.raises(BundleError, match="secret"):
        knowing.export_thread(thread, tmp_path / "after.tar")
    assert sorted(path.name for path in tmp_path.glob("*.tar*")) == ["before.tar"]
    assert not list(tmp_path.glob(".after*"))


def test_a_thread_that_runs_is_not_exported(
    project: Project, uwf: Client, thread: str, tmp_path: Path
) -> None:
    with running(project, thread, DONE), pytest.raises(BusyError, match="is running"):
        uwf.export_thread(thread, tmp_path / "x.tar")
    assert not list(tmp_path.glob("*x.tar*"))


def test_a_file_that_cannot_be_written_is_told(uwf: Client, thread: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write the bundle"):
        uwf.export_thread(thread, tmp_path / "no" / "x.tar")


def test_a_damaged_thread_is_not_exported(uwf: Client, thread: str, tmp_path: Path) -> None:
    store = uwf._engine.store
    prompt = store.get(store.variable(f"@uwf/thread/{thread}").value).payload["prompt"]  # type: ignore[union-attr]
    store.delete([prompt], 1 << 62)
    with pytest.raises(CorruptNodeError, match=prompt):
        uwf.export_thread(thread, tmp_path / "x.tar")
    assert not list(tmp_path.glob("*x.tar*"))


def test_both_payloads_of_a_collision_are_kept_apart(
    uwf: Client, other: Project, tmp_path: Path
) -> None:
    """One says approved and one rejected, and both have one reference."""
    from tests.core.cas.collisions import colliding_texts

    from uwf_core.cas.hashing import PRIMITIVES

    yes, no = colliding_texts(PRIMITIVES["string"], b"approved", b"rejected")
    thread = uwf.start("loop", yes)["thread"]
    uwf.export_thread(thread, tmp_path / "yes.tar")
    with other.client() as theirs:
        ref = theirs._engine.store.put_text(no)
        assert node(PRIMITIVES["string"], yes).name == f"cas/{ref}.bin"
        with pytest.raises(CollisionError, match=ref):
            theirs._engine.store.put_text(yes)
        before = theirs._engine.store.rows(""), list(theirs._engine.store.edges())
        for options in ({}, {"dry_run": True}):
            with pytest.raises(CollisionError, match=ref):
                theirs.import_bundle(tmp_path / "yes.tar", **options)
        assert (theirs._engine.store.rows(""), list(theirs._engine.store.edges())) == before
        assert theirs._engine.store.text(ref) == no
    archive = Archive(tmp_path / "yes.tar")
    old = archive[f"cas/{ref}.bin"]
    swapped = archive.rewrite(old.name, old.content.replace(yes.encode(), no.encode()))
    (tmp_path / "no.tar").write_bytes(swapped.data())
    with pytest.raises(BundleError):
        Client.verify_bundle(tmp_path / "no.tar")


def test_a_suspended_thread_waits_elsewhere_as_it_did_here(
    project: Project, uwf: Client, other: Project, thread: str, tmp_path: Path
) -> None:
    project.script([DONE, UNSURE])
    uwf.exec(thread, count=2)
    uwf.export_thread(thread, tmp_path / "x.tar")
    with other.client() as theirs:
        theirs.import_bundle(tmp_path / "x.tar")
        assert theirs.show(thread)["suspendMessage"] == "Please decide: red or blue?"
