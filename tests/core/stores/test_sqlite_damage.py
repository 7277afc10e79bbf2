"""Flipped bits and changed columns: damage is noticed, and never read as something else."""

import contextlib
import random
import shutil
import sqlite3

import pytest

from uwf_core.cas.verify import scan_all
from uwf_core.errors import (
    CorruptNodeError,
    UwfError,
)

LINKED = {"properties": {"next": {"anyOf": [{"type": "string", "format": "ocas_ref"}, {}]}}}


def settled(path):
    """Copy the log into the file, as a long-lived process would; only the file is left."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def filled(store):
    """Nodes of several sizes and some variables."""
    linked, last = store.put_schema(LINKED), None
    with store.transaction():
        for number in range(12):
            last = store.put(linked, {"next": last, "text": "x" * 10 ** (number % 5)})
            store.put_text(f"text {number}")
            store.set_variable(f"@uwf/thread/{number}", last, {"status": "idle", "n": "1"}, None)
    return contents(store)


def contents(store):
    """All that can be read, by name; what is missing or refused is not in it."""
    found = {}
    refs = [ref for ref, *_ in attempt(lambda: list(store.edges()), [])]
    for ref in refs:
        found[ref] = attempt(lambda ref=ref: (store.get(ref), store.refs(ref)))
    for number in range(12):
        name = f"@uwf/thread/{number}"
        found[name] = attempt(lambda name=name: store.variable(name))
    for each in attempt(lambda: store.variables_lenient("@uwf/")[0], []):
        found[f"listed {each.name}"] = each
    for text in attempt(lambda: store.variable_texts("@uwf/")[0], []):
        found[f"text of {text.partition(chr(0))[0]}"] = text
    for each in attempt(lambda: store.variables("", tags={"status": ["idle"]}, limit=5), []):
        found[f"listed {each.name}"] = each
    for ref, edges, _ in attempt(lambda: list(store.edges()), []):
        found[f"edges of {ref}"] = edges
    return {name: value for name, value in found.items() if value is not None}


def attempt(read, otherwise=None):
    """What `read` gives; any refusal must be one of ours."""
    try:
        return read()
    except UwfError as error:
        assert error.message
        return otherwise


def test_a_flipped_bit_in_the_file_never_changes_what_is_read(open_store, tmp_path):
    store = open_store()
    before = filled(store)
    store.close()
    settled(tmp_path / "store.db")
    good = (tmp_path / "store.db").read_bytes()
    source = random.Random(11)
    noticed = 0
    for _ in range(150):
        position = source.choice([source.randrange(len(good)), source.randrange(4096 * 4)])
        bad = bytearray(good)
        bad[position] ^= 1 << source.randrange(8)
        home = tmp_path / "flipped"
        home.mkdir()
        (home / "store.db").write_bytes(bad)
        damaged = open_store(home=home)
        after = contents(damaged)
        assert {
            name: after[name] for name in after.keys() & before.keys()
        }.items() <= before.items()
        assert after.keys() <= before.keys()
        noticed += after != before
        damaged.close()
        shutil.rmtree(home)
    assert noticed > 10


def test_a_flipped_bit_in_the_log_shows_an_older_state_and_never_another_one(open_store, tmp_path):
    store = open_store()
    store.put_text("first")
    store.close()
    settled(tmp_path / "store.db")
    head, states = None, {None: None}
    for turn in range(8):
        with store.transaction():
            head = store.set_variable("@uwf/a", store.put_text(f"turn {turn}"), {"n": "1"}, head)
        states[head.value] = head
    store.close()
    log = (tmp_path / "store.db-wal").read_bytes()
    source = random.Random(5)
    for _ in range(40):
        bad = bytearray(log)
        bad[source.randrange(len(log))] ^= 1 << source.randrange(8)
        (tmp_path / "store.db-wal").write_bytes(bad)
        again = open_store()
        seen = again.variable("@uwf/a")
        assert seen == (states[seen.value] if seen else None)
        if seen is not None:
            assert again.text(seen.value).startswith("turn ")
        again.close()
        settled_away(tmp_path)
        (tmp_path / "store.db-wal").write_bytes(log)


def settled_away(home):
    """Forget the index of the log, as a restart of the machine does."""
    (home / "store.db-shm").unlink(missing_ok=True)


@pytest.mark.parametrize("column", ["created", "touched", "type", "edges", "sha256", "data"])
def test_a_changed_column_is_noticed_whichever_it_is(open_store, tmp_path, column):
    store = open_store()
    linked = store.put_schema(LINKED)
    payload = {"next": store.put_text("x")}
    ref = store.put(linked, payload)
    store.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        change = {"edges": "x'0011223344556677'", "sha256": "x'00'", "data": "x'a0'"}
        row = "(SELECT max(rowid) FROM node)"
        new = change.get(column, f"{column} + 1")
        connection.execute(f"UPDATE node SET {column} = {new} WHERE rowid = {row}")
        connection.commit()
    for use in (store.get, store.refs, lambda _: store.put(linked, payload), store.get):
        with pytest.raises(CorruptNodeError):
            use(ref)
    if column not in ("sha256", "data"):
        with pytest.raises(CorruptNodeError):
            list(store.edges())


@pytest.mark.parametrize("value", ["5", "1000000000000", "-1", "1.5", "'text'", "x'00'"])
@pytest.mark.parametrize(
    "column", ["type", "ref", "created", "touched", "guard", "edges", "sha256", "data"]
)
def test_a_column_with_a_value_of_any_kind_is_damage_and_nothing_worse(
    open_store, tmp_path, column, value
):
    """SQLite keeps numbers, texts and bytes in whatever column a damaged file says."""
    store = open_store()
    ref = store.put(store.put_schema(LINKED), {"next": store.put_text("x")})
    whole = len(scan_all(store).graph)
    store.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        row = "(SELECT max(rowid) FROM node)"
        connection.execute(f"UPDATE node SET {column} = {value} WHERE rowid = {row}")
        connection.commit()
    scan = scan_all(store)
    assert scan.unreadable is None
    assert any(fault.kind == "damaged" for fault in scan.faults)
    assert len(scan.graph) >= whole - 1
    with pytest.raises(UwfError):
        store.get(ref)
    if column not in ("sha256", "data"):
        with pytest.raises(CorruptNodeError):
            list(store.graph())


def test_putting_it_again_does_not_make_a_damaged_node_look_intact(open_store, tmp_path):
    """Its transaction fails as a whole."""
    store = open_store()
    ref = store.put_text("x")
    store.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        connection.execute("UPDATE node SET created = created + 1")
        connection.commit()
    with pytest.raises(CorruptNodeError), store.transaction():
        store.put_text("x")
    with pytest.raises(CorruptNodeError):
        store.get(ref)


def test_one_damaged_thread_does_not_hide_the_others(open_store, tmp_path):
    store = open_store()
    filled(store)
    store.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        for name, tags in (("3", b""), ("4", b"status"), ("5", b"n\0001\0status\0idla")):
            connection.execute(
                "UPDATE variable SET tags = ? WHERE name = ?", (tags, f"@uwf/thread/{name}")
            )
        connection.execute(
            "UPDATE variable SET value = CAST(x'ff' AS TEXT) WHERE name = '@uwf/thread/6'"
        )
        connection.commit()
    intact, damaged = store.variables_lenient("@uwf/thread/")
    assert sorted(damaged) == [f"@uwf/thread/{number}" for number in (3, 4, 5, 6)]
    assert len(intact) == 8
    texts, again = store.variable_texts("@uwf/thread/")
    assert [text.split("\0")[0] for text in texts] == [each.name for each in intact]
    assert again == damaged


def test_damage_that_sqlite_quotes_in_no_unicode_is_told_as_damage(open_store, tmp_path):
    """SQLite names the table whose definition it cannot read; the name is damaged as well."""
    store = open_store()
    ref = store.put_text("x")
    store.close()
    settled(tmp_path / "store.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        change = "name = CAST(x'6e9b6f6465' AS TEXT), sql = 'CREATE TABLE'"
        connection.execute(f"UPDATE sqlite_master SET {change} WHERE name = 'holder'")
        connection.commit()
    for use in (store.get, lambda _: store.put_text("y"), store.variable):
        with pytest.raises(CorruptNodeError) as caught:
            use(ref)
        assert "damaged" in caught.value.message and str(tmp_path) in str(caught.value.where)
