"""Threads of the original uwf are listed, read, exported and forked like ours, and stay as they
were; its home is only read.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.import_original.homes import (
    NODES,
    THREADS,
    fingerprint,
    printed,
    write_early_home,
    write_home,
)

from uwf_core.client import Client
from uwf_core.errors import WrongStateError
from uwf_core.testing.project import Project
from uwf_core.views.row import ThreadFilter

STATUSES = {"end": "completed"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded home."""
    return write_home(tmp_path_factory.mktemp("original"))


@pytest.fixture
def uwf(tmp_path: Path) -> Iterator[Client]:
    """Somebody with an empty store."""
    with Project(tmp_path).client() as client:
        yield client


@pytest.fixture
def threads(uwf: Client, home: Path) -> Mapping[str, str]:
    """The ids here of the recorded threads, after the import of the home."""
    rows = uwf.import_source(home)["threads"]
    ids = {row["original"]: row["thread"] for row in rows}
    return {name: ids[original] for name, original in THREADS.items()}


@pytest.mark.parametrize("name", THREADS)
def test_a_thread_has_the_status_and_the_steps_that_the_original_showed(
    uwf: Client, threads: Mapping[str, str], name: str
) -> None:
    shown, thread = printed("show", name), uwf.show(threads[name])
    assert thread["status"] == STATUSES.get(shown["status"], shown["status"])
    assert thread["original"] == THREADS[name]
    waits = thread["status"] == "suspended"
    assert thread["suspendedRole"] == (shown["suspendedRole"] if waits else None)
    assert thread["suspendMessage"] == (shown["suspendMessage"] if waits else None)
    if not waits:
        assert thread["currentRole"] == shown["currentRole"]
    steps = printed("steps", name)["steps"]
    assert thread["task"] == steps[0]["prompt"]
    assert thread["cwd"] == "/srv/shop"
    ours = [uwf.step(row["step"]) for row in uwf.steps(threads[name])[1:]]
    assert [_facts(step) for step in ours] == [
        (step["role"], step["agent"], step["output"], step["durationMs"], step["usage"]["turns"])
        for step in steps[1:]
    ]


def _facts(step: Mapping[str, Any]) -> tuple[object, ...]:
    usage = step["usage"]
    return step["role"], step["agent"], step["output"], step["durationMs"], usage["turns"]


def test_turns_instructions_and_texts_come_with_the_steps(
    uwf: Client, threads: Mapping[str, str]
) -> None:
    turns = uwf.turns(threads["loop"])
    assert [(turn["number"], turn["role"]) for turn in turns] == [
        *((1, "writer"), (1, "writer"), (2, "critic")),
        *((3, "writer"), (4, "critic"), (5, "writer")),
    ]
    assert turns[0]["text"] == "I think first."
    text = uwf.read(threads["loop"])
    assert "It does not rhyme." in text
    assert "A poem about ünïcode ✓" in text
    third = uwf.step(uwf.steps(threads["loop"])[3]["step"])
    assert third["attempt"]["edgePrompt"] == "Correct 2.5 faults. "  # 0.8.0 knows no body there


def test_a_list_names_the_threads_with_their_ids_in_the_original_newest_first(
    uwf: Client, threads: Mapping[str, str]
) -> None:
    rows = uwf.list(ThreadFilter(all=True))
    assert [row["original"] for row in rows] == sorted(THREADS.values(), reverse=True)
    assert all(row["startedAtMs"] < row["updatedAtMs"] for row in rows)
    assert uwf.start("review-loop", "Ours.")["thread"] not in threads.values()
    assert uwf.list(ThreadFilter(all=True))[0]["original"] is None


def test_a_thread_is_read_only_and_names_the_command_that_forks_it(
    uwf: Client, threads: Mapping[str, str]
) -> None:
    before = {name: uwf.show(thread)["head"] for name, thread in threads.items()}
    for attempt in (
        lambda: uwf.exec(threads["loop"]),
        lambda: uwf.poke(threads["loop"], "x"),
        lambda: uwf.cancel(threads["loop"]),
        lambda: uwf.resume(threads["suspended"], "x"),
        lambda: uwf.compact(threads["loop"], text="short"),
    ):
        with pytest.raises(WrongStateError, match="read-only") as raised:
            attempt()
        assert raised.value.hint is not None
        assert "uwf thread fork" in raised.value.hint
    assert {name: uwf.show(thread)["head"] for name, thread in threads.items()} == before
    assert uwf.show(threads["idle"])["next"] == [f"uwf thread fork {before['idle']}"]


def test_the_inbox_has_only_what_can_be_answered(uwf: Client, threads: Mapping[str, str]) -> None:
    assert uwf.show(threads["suspended"])["status"] == "suspended"
    assert uwf.inbox() == []
    fork = uwf.fork(uwf.show(threads["suspended"])["head"])["thread"]
    assert [item["thread"] for item in uwf.inbox()] == [fork]


def test_a_fork_runs_on_from_the_last_step(
    uwf: Client, tmp_path: Path, threads: Mapping[str, str]
) -> None:
    project = Project(tmp_path / "other")
    project.script(
        [{"role": "writer", "output": {}}] * 5
        + [{"role": "critic", "output": {"$status": "accepted"}}]
    )
    work = tmp_path / "other"
    with project.client() as other:
        home = write_home(tmp_path / "again")
        rows = other.import_source(home)["threads"]
        loop = next(row["thread"] for row in rows if row["original"] == THREADS["loop"])
        fork = other.fork(other.show(loop)["head"])["thread"]
        assert other.show(fork)["original"] is None
        assert other.show(fork)["currentRole"] == "critic"
        outcome = other.exec(fork, cwd=str(work))
        assert outcome.document["status"] == "completed"
        assert [row["role"] for row in other.steps(fork)[1:]][-1] == "critic"


def test_what_was_imported_is_intact_and_can_be_exported(
    uwf: Client, threads: Mapping[str, str], tmp_path: Path
) -> None:
    assert uwf.verify()["problems"] == []
    with Project(tmp_path / "other").client() as other:
        for name, thread in threads.items():
            file = tmp_path / f"{name}.tar"
            uwf.export_thread(thread, file)
            assert Client.verify_bundle(file)["thread"] == thread
            other.import_bundle(file)
            assert other.show(thread)["original"] == THREADS[name]
        again = other.import_source(write_home(tmp_path / "home"))
        assert {row["result"] for row in again["threads"]} == {"known"}


def test_a_second_import_changes_nothing(uwf: Client, home: Path, threads: object) -> None:
    before = uwf._engine.store.variables("@")
    document = uwf.import_source(home)
    rows = [*document["threads"], *document["workflows"]]
    assert {row["result"] for row in rows} == {"known"}
    assert uwf._engine.store.variables("@") == before


def test_an_import_after_further_steps_replaces_the_thread(uwf: Client, tmp_path: Path) -> None:
    loop = f"@uwf/thread/{THREADS['loop']}"
    from tests.import_original.homes import VARIABLES

    first = printed("steps", "loop")["steps"][1]["hash"]
    earlier = [[*row[:2], first, *row[3:]] if row[0] == loop else row for row in VARIABLES]
    rows = uwf.import_source(write_home(tmp_path / "a", variables=earlier))
    thread = next(row for row in rows["threads"] if row["original"] == THREADS["loop"])
    assert thread["steps"] == 1
    again = uwf.import_source(write_home(tmp_path / "b"))
    found = {row["original"]: row["result"] for row in again["threads"]}
    assert found[THREADS["loop"]] == "updated"
    assert uwf.show(thread["thread"])["steps"] == 5
    assert uwf.verify()["problems"] == []


def test_a_dry_run_stores_nothing(uwf: Client, home: Path) -> None:
    document = uwf.import_source(home, dry_run=True)
    assert {row["result"] for row in document["threads"]} == {"imported"}
    assert uwf._engine.store.variables("@") == []
    assert list(uwf._engine.store.records()) == []


def test_the_home_is_not_changed(uwf: Client, tmp_path: Path) -> None:
    home = write_home(tmp_path / "original")
    before = fingerprint(home)
    uwf.import_source(home)
    assert fingerprint(home) == before


@pytest.mark.parametrize("part", [".", ".ocas", ".uwf"])
def test_any_folder_of_the_home_can_be_given(uwf: Client, home: Path, part: str) -> None:
    assert len(uwf.import_source(home / part)["threads"]) == len(THREADS)


def test_the_layout_of_ocas_before_0_4_is_read(uwf: Client, tmp_path: Path) -> None:
    home = write_home(tmp_path / "original", nodes={})
    (home / ".ocas/nodes").rmdir()
    for ref, content in NODES.items():
        (home / f".ocas/{ref}.bin").write_bytes(content)
    assert len(uwf.import_source(home)["threads"]) == len(THREADS)


def test_the_lists_of_the_first_versions_are_read(uwf: Client, tmp_path: Path) -> None:
    document = uwf.import_source(write_early_home(tmp_path))
    found = {row["original"]: row["status"] for row in document["threads"]}
    for name, original in THREADS.items():
        status = printed("show", name)["status"]
        assert found[original] == STATUSES.get(status, status)
    assert [row["name"] for row in document["workflows"]] == ["report", "review-loop"]


def test_a_name_of_a_workflow_never_moves(uwf: Client, project_workflow: Path, home: Path) -> None:
    mine = uwf.add_workflow(project_workflow)
    row = uwf.import_source(home)["workflows"][0]
    assert (row["name"], row["result"]) == ("report", "skipped")
    assert uwf.find_workflow("report") == mine


@pytest.fixture
def project_workflow(tmp_path: Path) -> Path:
    """A workflow of ours with the name of one of the home."""
    text = (Path(__file__).parent / "record/workflows/report.yaml").read_text(encoding="utf-8")
    file = tmp_path / "report.yaml"
    file.write_text(text.replace("One role", "Mine"), encoding="utf-8")
    return file


def test_a_thread_without_all_its_nodes_is_skipped_with_the_reason(
    uwf: Client, tmp_path: Path
) -> None:
    lost = printed("steps", "report")["steps"][1]["hash"]
    nodes = {ref: content for ref, content in NODES.items() if ref != lost}
    document = uwf.import_source(write_home(tmp_path / "original", nodes))
    skipped = [row for row in document["threads"] if row["result"] == "skipped"]
    assert [row["original"] for row in skipped] == [THREADS["report"]]
    assert skipped[0]["reason"] == f"the home lacks the node {lost}"
