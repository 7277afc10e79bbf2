"""`cas verify` names whatever is damaged and whom it affects; `--repair` puts right what can be."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.core.engine.conftest import APPROVED, DONE, LOOP, REJECTED
from tests.core.running import running
from tests.store_file import opened_store, settle

from uwf_core.client import ThreadDocument, VerifyDocument
from uwf_core.errors import CorruptNodeError, UnknownIdError, UwfError, WrongStateError
from uwf_core.ids import number_of
from uwf_core.testing.project import Project

OTHER = LOOP.replace("name: loop", "name: other").replace("Review it.", "Look at it.")


class World:
    """Three threads: `one`, `fork` (which shares its first step), and `alone`."""

    def __init__(self, root: Path) -> None:
        self.project = Project(root)
        self.project.workflow("loop", LOOP)
        self.project.workflow("other", OTHER)
        self.project.script([DONE, REJECTED, {"role": "developer", "fail": {"kind": "crashed"}}])
        with self.project.client() as uwf:
            self.one = uwf.start("loop", "The task.")["thread"]
            uwf.exec(self.one, count=3)
            rows = uwf.steps(self.one)
            self.first, self.second = rows[1]["step"], rows[2]["step"]
            self.fork = uwf.fork(self.first)["thread"]
            self.alone = uwf.start("other", "Something else.")["thread"]
            uwf.exec(self.alone)
            uwf.export_thread(self.one, root / "one.tar")
            store = uwf._engine.store
            step = store.get(self.second).payload
            self.raw, self.prompt = step["raw"], step["attempt"]["prompt"]
            self.workflow = uwf.show(self.one)["workflow"]
            self.type = store.get(self.second).type
            self.failed = uwf.steps(self.one) and next(
                store.get(each.value).payload["step"]
                for each in store.variables(f"@uwf/attempt/{self.one}/")
            )
        self.bundle = str(root / "one.tar")
        self.file = self.project.home / "store.db"

    def sql(self, statement: str, *values: Any) -> None:
        """Change the file behind everybody's back."""
        with opened_store(self.file) as connection:
            assert connection.execute(statement, values).rowcount == 1

    def verify(self, word: str | None = None, **options: Any) -> VerifyDocument:
        with self.project.client() as uwf:
            return uwf.verify(word, **options)

    def shown(self, thread: str) -> ThreadDocument:
        with self.project.client() as uwf:
            return uwf.show(thread)

    def copied(self, home: Path) -> "World":
        """The same, to be damaged."""
        copy = object.__new__(World)
        copy.__dict__ |= self.__dict__
        shutil.copytree(self.project.home, home)
        copy.project = Project(self.project.folder.parent)
        copy.project.home = home
        copy.project.env["UWF_HOME"] = str(home)
        copy.file = home / "store.db"
        return copy


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = World(tmp_path_factory.mktemp("world"))
    settle(world.file)
    return world


@pytest.fixture
def world(template: World, tmp_path: Path) -> World:
    return template.copied(tmp_path / "home")


def names(found: VerifyDocument) -> set[str]:
    return {str(each["node"] or each["variable"]) for each in found["problems"]}


def test_an_intact_store_is_valid(world: World) -> None:
    found = world.verify()
    assert (found["valid"], found["problems"], found["marked"]) == (True, [], [])
    assert found["threads"] == 3
    assert found["nodes"] > 40
    assert world.verify(world.one)["nodes"] < found["nodes"]
    assert world.verify(world.second)["valid"]


FLIP = "UPDATE node SET {0} = {1} WHERE ref = ?"
NODES: dict[str, str] = {
    "data": FLIP.format("data", "CAST(substr(data, 1, length(data) - 1) || '~' AS BLOB)"),
    "a cut": FLIP.format("data", "substr(data, 1, length(data) - 1)"),
    "zeros": FLIP.format("data", "zeroblob(length(data))"),
    "sha256": FLIP.format("sha256", "zeroblob(32)"),
    "type": FLIP.format("type", "type + 1"),
    "edges": FLIP.format("edges", "x'0011223344556677'"),
    "times": FLIP.format("touched", "touched + 1"),
    "reference": FLIP.format("ref", "ref + 1"),
    "text instead of bytes": FLIP.format("data", "'text'"),
    "nothing": FLIP.format("data", "''"),
    "absence": "DELETE FROM node WHERE ref = ?",
}


WHERE = ("second", "first", "raw", "workflow", "type", "failed")
"""Nodes of each kind, which are attributes of a world."""


def each_damage_and_each_node(damages: Iterable[str]) -> list[tuple[str, str]]:
    """Every damage of a step, and every other node with changed bytes and lost."""
    return [
        *((damage, WHERE[0]) for damage in damages),
        *((damage, what) for what in WHERE[1:] for damage in ("data", "absence")),
    ]


@pytest.mark.parametrize(("damage", "what"), each_damage_and_each_node(NODES))
def test_a_damaged_node_is_named_with_the_threads_that_it_affects(
    world: World, damage: str, what: str
) -> None:
    ref = getattr(world, what)
    affected = {
        "first": {world.one, world.fork},
        "workflow": {world.one, world.fork},
        "type": {world.one, world.fork, world.alone},
    }.get(what, {world.one})
    world.sql(NODES[damage], number_of(ref))
    found = world.verify()
    assert not found["valid"]
    assert ref in names(found)
    problem = next(each for each in found["problems"] if each["node"] == ref)
    assert set(problem["threads"]) == affected
    assert set(found["damaged"]) == affected
    assert set(found["marked"]) == affected
    again = world.verify()
    assert (again["problems"], again["marked"]) == (found["problems"], found["marked"])
    with world.project.client() as uwf:
        for thread in (world.one, world.fork, world.alone):
            corrupt = uwf.show(thread)["status"] == "corrupt"
            assert corrupt == (thread in affected)
        with pytest.raises(CorruptNodeError, match=r"damaged|corrupt"):
            uwf.exec(world.one)


@pytest.mark.parametrize(
    ("damage", "what"), each_damage_and_each_node(["data", "sha256", "edges", "absence"])
)
def test_a_bundle_brings_nodes_back_and_the_marks_go(world: World, damage: str, what: str) -> None:
    with world.project.client() as uwf:
        before = uwf.show(world.one), uwf.read(world.one), uwf.list()
    ref = getattr(world, what)
    world.sql(NODES[damage], number_of(ref))
    assert not world.verify()["valid"]
    alone = world.verify(repair=True)
    assert not alone["valid"]  # nothing is invented
    assert alone["repaired"] == []
    found = world.verify(repair=True, bundle=world.bundle)
    assert (found["valid"], found["problems"]) == (True, [])
    assert ref in found["repaired"]
    with world.project.client() as uwf:
        show, text, rows = uwf.show(world.one), uwf.read(world.one), uwf.list()
        assert text == before[1]
        assert {**show, "updatedAtMs": 0} == {**before[0], "updatedAtMs": 0}
        assert [row["status"] for row in rows] == [row["status"] for row in before[2]]
        world.project.script([DONE, REJECTED, DONE, APPROVED])
        assert uwf.exec(world.one, until_done=True).document["done"]


def test_damage_is_named_when_only_one_thread_or_node_is_looked_at(world: World) -> None:
    world.sql(NODES["data"], number_of(world.raw))
    for word in (world.one, world.second, world.raw):
        found = world.verify(word)
        assert names(found) == {world.raw}
        assert found["damaged"] == [world.one]
    for word in (world.alone, world.fork, world.first):
        assert world.verify(word)["valid"]
    with pytest.raises(UnknownIdError):
        world.verify("0" * 13)


def retagged(world: World, change: Callable[[dict[str, str]], None]) -> None:
    """The tags of `one`'s head, changed by somebody who knows how to make a checksum."""
    with world.project.client() as uwf:
        store = uwf._engine.store
        head = store.variable(f"@uwf/thread/{world.one}")
        assert head is not None
        tags = dict(head.tags)
        change(tags)
        store.set_variable(head.name, head.value, tags, head)


@pytest.mark.parametrize(
    ("key", "value", "word"),
    [
        ("status", "completed", "status"),
        ("steps", "7", "steps"),
        ("cwd", "/", "cwd"),
        ("agent", "/bin/sh -c id", "agent"),
        ("currentRole", "reviewer", "current_role"),
        ("runningMs", "1", "running_ms"),
        ("tries", "0", "tries"),
        ("grants", "3", "grants"),
        ("usage", "[9,1,1,1,1,1.5,1,[]]", "totals"),
        (
            "role.developer",
            '[9,null,{"mock":["x",1,false,null]},9,9,0,0,null,0,[9,1,1,1,1,1.5,1,[]]]',
            "developer",
        ),
        ("seq", "9", "seq"),
        ("workflow", "0" * 13, "workflow"),
        ("start", "0" * 13, "start"),
        ("attempt", '[3,1,"developer"]', "attempt"),
    ],
)
def test_tags_that_the_chain_contradicts_are_named_and_rebuilt(
    world: World, key: str, value: str, word: str
) -> None:
    before = world.shown(world.one)
    retagged(world, lambda tags: tags.update({key: value}))
    found = world.verify()
    (problem,) = found["problems"]
    assert (problem["kind"], problem["variable"]) == ("tags", f"@uwf/thread/{world.one}")
    assert word in problem["message"]
    assert found["marked"] == found["damaged"] == [world.one]
    repaired = world.verify(repair=True)
    assert (repaired["valid"], repaired["repaired"]) == (True, [f"@uwf/thread/{world.one}"])
    assert {**world.shown(world.one), "updatedAtMs": before["updatedAtMs"]} == before


@pytest.mark.parametrize("key", ["status", "start", "cwd"])
def test_tags_that_are_no_index_are_rebuilt_too(world: World, key: str) -> None:
    retagged(world, lambda tags: tags.pop(key) and None)
    assert not world.verify()["valid"]
    assert world.verify(repair=True)["valid"]


VARIABLES = {
    "value": "UPDATE variable SET value = '0000000000000' WHERE name = ?",
    "tags": "UPDATE variable SET tags = replace(tags, 'cwd', 'cwx') WHERE name = ?",
    "no tags": "UPDATE variable SET tags = 'x' WHERE name = ?",
    "checksum": "UPDATE variable SET checksum = zeroblob(16) WHERE name = ?",
    "created": "UPDATE variable SET created = created + 1 WHERE name = ?",
    "updated": "UPDATE variable SET updated = 'now' WHERE name = ?",
}


@pytest.mark.parametrize("damage", VARIABLES)
def test_a_damaged_head_is_named_and_repaired_where_its_value_proves_itself(
    world: World, damage: str
) -> None:
    name = f"@uwf/thread/{world.one}"
    world.sql(VARIABLES[damage], name)
    found = world.verify()
    assert name in names(found)
    assert found["damaged"] == [world.one]
    with world.project.client() as uwf:
        assert [row["status"] for row in uwf.list() if row["thread"] == world.one] == ["corrupt"]
    repaired = world.verify(repair=True)
    assert repaired["valid"] == (damage != "value")
    assert (name in repaired["repaired"]) == (damage != "value")


def test_a_thread_whose_head_is_lost_for_good_can_still_be_shown_and_removed(
    world: World,
) -> None:

    world.sql(VARIABLES["value"], f"@uwf/thread/{world.one}")
    with world.project.client() as uwf:
        assert uwf.show(world.one)["status"] == "corrupt"
        with pytest.raises(CorruptNodeError, match=world.one):
            uwf.collect_garbage(0)
        assert uwf.show("@last")["thread"] == world.alone
        assert uwf.remove(world.one)["status"] == "corrupt"
        uwf.collect_garbage(0)
        assert len(uwf.list()) == 2
    assert world.verify()["valid"]


def test_a_damaged_attempt_is_written_again_and_a_lost_one_is_a_contradiction(
    world: World,
) -> None:
    name = f"@uwf/attempt/{world.one}/3.1"
    world.sql(VARIABLES["checksum"], name)
    assert world.verify()["damaged"] == [world.one]
    assert world.verify(repair=True)["valid"]
    world.sql("DELETE FROM variable WHERE name = ?", name)
    found = world.verify()
    assert "tries is 1, not 0" in found["problems"][0]["message"]


def test_a_lost_head_is_told_by_what_it_leaves_behind(world: World) -> None:
    world.sql("DELETE FROM variable WHERE name = ?", f"@uwf/thread/{world.one}")
    problems = world.verify()["problems"]
    assert {(each["kind"], *each["threads"]) for each in problems} == {("stray", world.one)}
    assert {each["variable"] for each in problems} == {
        f"@uwf/attempt/{world.one}/3.1",
        f"@uwf/event/{world.one}/00000000.started",
    }


def test_a_registered_workflow_that_is_gone_is_named_with_its_name(world: World) -> None:
    file = world.project.home / "third.yaml"
    file.write_text(LOOP.replace("name: loop", "name: third").replace("Write it.", "Draw it."))
    with world.project.client() as uwf:
        ref = uwf.add_workflow(file)
    world.sql("DELETE FROM node WHERE ref = ?", number_of(ref))
    (problem,) = world.verify()["problems"]
    assert (problem["kind"], problem["node"], problem["variable"]) == (
        *("missing", ref, "@uwf/registry/third"),
    )


def test_a_node_that_its_type_refuses_is_found_though_every_digest_fits(world: World) -> None:
    from uwf_core.api.store import Record
    from uwf_core.cas.codec import encode
    from uwf_core.cas.hashing import ref_of, sha256_of

    with world.project.client() as uwf:
        store = uwf._engine.store
        data, type_ = encode({"not": "a step"}), store.get(world.second).type
        edges = store.record(world.second).edges[:0]
        ref = ref_of(type_, data)
        number = number_of(type_)
        assert number is not None
        record = Record(ref, type_, sha256_of(type_, data), data, (*edges, number), 1, 1)
        store._backend.put(record)
    (problem,) = world.verify()["problems"]
    assert (problem["node"], problem["threads"]) == (ref, [])
    assert "rejects it" in problem["message"]


def test_what_runs_is_not_marked_and_not_disturbed(world: World) -> None:
    with running(world.project, world.one, DONE):
        before = world.shown(world.one)
        world.sql(NODES["data"], number_of(world.raw))
        found = world.verify()
        assert (found["damaged"], found["marked"]) == ([world.one], [])
        assert {**world.shown(world.one), "updatedAtMs": before["updatedAtMs"]} == before


def test_a_thread_whose_damage_is_gone_loses_its_mark_by_repair(world: World) -> None:
    data = FLIP.format("data", "CAST(substr(data, 1, length(data) - 1) || '~' AS BLOB)")
    with opened_store(world.file) as connection:
        (good,) = connection.execute(
            "SELECT data FROM node WHERE ref = ?", (number_of(world.raw),)
        ).fetchone()
    world.sql(data, number_of(world.raw))
    world.verify()
    world.sql("UPDATE node SET data = ? WHERE ref = ?", good, number_of(world.raw))
    found = world.verify()
    assert [each["kind"] for each in found["problems"]] == ["mark"]
    assert world.verify(repair=True)["valid"]


def test_a_damaged_thread_can_be_removed_and_what_is_left_collected(world: World) -> None:

    world.sql(NODES["absence"], number_of(world.raw))
    with world.project.client() as uwf:
        with pytest.raises(CorruptNodeError, match=world.raw):
            uwf.collect_garbage(0)
        uwf.verify()
        uwf.remove(world.one)
        uwf.collect_garbage(0)
        with pytest.raises(WrongStateError):
            uwf.remove(world.alone)
    assert world.verify()["valid"]


@pytest.mark.parametrize("part", [0.02, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99])
def test_a_truncated_file_is_told_and_nothing_wrong_is_read(world: World, part: float) -> None:
    settle(world.file)
    with world.project.client() as uwf:
        good = {ref: uwf._engine.store.get(ref).payload for ref, *_ in uwf._engine.store.edges()}
        threads = {row["thread"] for row in uwf.list()}
    data = world.file.read_bytes()
    world.file.write_bytes(data[: int(len(data) * part)])
    try:
        found = world.verify()
    except UwfError as error:
        assert error.message
        return
    assert not found["valid"]
    assert any(each["message"] for each in found["problems"])
    assert set(found["damaged"]) <= threads
    with world.project.client() as uwf:
        for ref, payload in good.items():
            try:
                assert uwf._engine.store.get(ref).payload == payload
            except UwfError:
                continue


@pytest.mark.parametrize("part", range(0, 100, 7))
def test_a_zeroed_page_is_told_or_was_free(world: World, part: int) -> None:
    settle(world.file)
    with world.project.client() as uwf:
        good = {ref: uwf._engine.store.get(ref).payload for ref, *_ in uwf._engine.store.edges()}
    data = bytearray(world.file.read_bytes())
    page = part * (len(data) // 4096) // 100
    data[page * 4096 : page * 4096 + 4096] = bytes(4096)
    world.file.write_bytes(data)
    intact = True
    try:
        intact = world.verify()["valid"]
    except UwfError:
        intact = False
    with world.project.client() as uwf:
        for ref, payload in good.items():
            try:
                assert uwf._engine.store.get(ref).payload == payload
            except UwfError:
                assert not intact


def test_a_node_that_no_variable_leads_to_may_refer_to_one_that_a_collection_has_freed(
    world: World,
) -> None:
    before = world.verify()["problems"]
    with world.project.client() as uwf:
        engine = uwf._engine
        freed = engine.store.put_text("nothing leads to this text")
        engine.nodes.put("question", {"message": freed, "form": freed})
        engine.store._backend.delete([freed], 2**53)
        assert not engine.store.has(freed)
    assert world.verify()["problems"] == before
