"""A home is data of strangers: whatever is wrong with it, it is rejected and nothing changes."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.import_original.homes import NODES, THREADS, VARIABLES, printed, write_home

from uwf_core.cas import node_file
from uwf_core.cas.codec import decode, encode
from uwf_core.cas.hashing import META, ref_of
from uwf_core.client import Client
from uwf_core.errors import BundleError, UwfError
from uwf_core.testing.project import Project
from uwf_import_original import home as home_module

STEP = printed("steps", "report")["steps"][1]["hash"]


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Somebody with an empty store."""
    with Project(tmp_path_factory.mktemp("victim")).client() as uwf:
        yield uwf


def _payload(**fields: object) -> dict[str, Any]:
    """The payload of a step, some fields replaced."""
    return {**decode(node_file.from_bytes(NODES[STEP]).data), **fields}


def _step_with(**fields: object) -> bytes:
    node = node_file.from_bytes(NODES[STEP])
    return node_file.to_bytes(node._replace(data=encode(_payload(**fields))))


def _variables(**columns: str) -> list[list[object]]:
    places = {"name": 0, "value": 2, "tags": 5}
    rows = [[*row] for row in VARIABLES]
    for name, text in columns.items():
        rows[-1][places[name]] = text
    return rows


def _incomplete_change(home: Path) -> None:
    write_home(home)
    (home / ".ocas/vars/_store.db-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" * 90)


ATTACKS: dict[str, Callable[[Path], object]] = {
    "a changed step": lambda home: write_home(home, {**NODES, STEP: _step_with(role="x")}),
    "a cut file": lambda home: write_home(home, {**NODES, STEP: NODES[STEP][:-3]}),
    "an empty file": lambda home: write_home(home, {**NODES, STEP: b""}),
    "another node's bytes": lambda home: write_home(
        home, {**NODES, STEP: NODES[printed("steps", "loop")["steps"][1]["hash"]]}
    ),
    "not CBOR": lambda home: write_home(home, {**NODES, STEP: b"\xff" * 200}),
    "tags that are not JSON": lambda home: write_home(home, variables=_variables(tags="{")),
    "deep tags": lambda home: write_home(home, variables=_variables(tags="[" * 100_000)),
    "names in a view that never ends": lambda home: write_home(
        home,
        table="CREATE VIEW vars AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
        " SELECT x AS name, x AS value, x AS tags, x AS updated FROM c",
    ),
    "a database of something else": lambda home: _then(
        home, lambda: (home / ".ocas/vars/_store.db").write_bytes(b"x" * 5000)
    ),
    "an incomplete change of the names": _incomplete_change,
    "a link in place of a node": lambda home: _then(
        home, lambda: _link(home / f".ocas/nodes/{STEP}.bin", home / "elsewhere")
    ),
    "a pipe in place of a node": lambda home: _then(
        home, lambda: _pipe(home / f".ocas/nodes/{STEP}.bin")
    ),
}


def _then(home: Path, change: Callable[[], object]) -> None:
    write_home(home)
    change()


def _link(file: Path, target: Path) -> None:
    file.rename(target)
    file.symlink_to(target)


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize("name", ATTACKS)
def test_a_hostile_home_is_rejected_and_nothing_changes(
    victim: Client, tmp_path: Path, name: str
) -> None:
    home = tmp_path / "original"
    ATTACKS[name](home)
    with pytest.raises(BundleError) as raised:
        victim.import_source(home)
    assert raised.value.where
    assert victim._engine.store.variables("@") == []
    assert list(victim._engine.store.records()) == []


@pytest.mark.parametrize(
    "row",
    [
        ["@uwf/thread/../../etc", "x", STEP, 1, 1, "{}", "[]"],
        [f"@uwf/thread/{THREADS['report'].lower()}", "x", STEP, 1, 1, "{}", "[]"],
        ["@uwf/registry/../x", "x", STEP, 1, 1, "{}", "[]"],
        ["@uwf/registry/report-2", "x", STEP, 1, 1, "{}", "[]"],
        [f"@uwf/thread/{'7' * 26}", "x", "../../../etc/x", 1, 1, '{"status": 5}', "[]"],
    ],
)
def test_a_name_that_means_nothing_here_creates_nothing(
    victim: Client, tmp_path: Path, row: list[object]
) -> None:
    home = write_home(tmp_path / "original", variables=[row])
    try:
        document = victim.import_source(home)
    except UwfError:
        pass
    else:
        rows = [*document["threads"], *document["workflows"]]
        assert {each["result"] for each in rows} == {"skipped"}
        assert all(each["reason"] for each in rows)
    assert victim._engine.store.variables("@") == []


def test_no_changed_byte_of_a_node_gets_in(victim: Client, tmp_path: Path) -> None:
    home = write_home(tmp_path / "original")
    file = home / f".ocas/nodes/{STEP}.bin"
    content = file.read_bytes()
    end = content.rindex(encode("timestamp"))  # the time is not hashed
    for place in range(0, end, 7):
        file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(BundleError):
            victim.import_source(home)
    assert victim._engine.store.variables("@") == []


def _node(type_: str, payload: object) -> tuple[str, bytes]:
    data = encode(payload)
    node = node_file.from_bytes(NODES[STEP])._replace(type=type_, data=data)
    return str(ref_of(type_, data)), node_file.to_bytes(node)


def _imported(victim: Client, home: Path, nodes: Mapping[str, bytes], head: str) -> dict[str, Any]:
    """The row of a thread with that head, imported alone."""
    row = [f"@uwf/thread/{THREADS['report']}", "x", head, 1, 1, '{"status": "end"}', "[]"]
    write_home(home, {**NODES, **nodes}, [row])
    (found,) = victim.import_source(home, dry_run=True)["threads"]
    return {**found}


def test_nodes_that_share_others_are_stored_once_each(victim: Client, tmp_path: Path) -> None:
    to = {"type": "string", "format": "ocas_ref"}
    nodes = dict([_node(META, {"type": "object", "properties": {"a": to, "b": to}})])
    (kind,) = nodes
    pair: dict[str, str] = {}
    for level in range(40):  # 2 ** 40 ways lead to the lowest
        made = [_node(kind, {**pair, "$status": "done", "n": [level, side]}) for side in (0, 1)]
        nodes |= dict(made)
        pair = {"a": made[0][0], "b": made[1][0]}
    step, content = _node(node_file.from_bytes(NODES[STEP]).type, _payload(output=pair["a"]))
    row = _imported(victim, tmp_path / "home", {**nodes, step: content}, step)
    assert (row["result"], row["steps"]) == ("imported", 1)


@pytest.mark.parametrize("moment", [10**15, 2**53 - 1])
def test_a_time_that_is_no_date_is_ignored(victim: Client, tmp_path: Path, moment: int) -> None:
    payload = _payload(startedAtMs=moment, completedAtMs=moment)
    step, content = _node(node_file.from_bytes(NODES[STEP]).type, payload)
    row = _imported(victim, tmp_path / "home", {step: content}, step)
    assert row["result"] == "imported"


@pytest.mark.parametrize("thread", [THREADS["report"][:-1] + "H", "Z" * 25 + "W"])
def test_an_id_that_the_original_cannot_make_is_no_thread(
    victim: Client, tmp_path: Path, thread: str
) -> None:
    row = [f"@uwf/thread/{thread}", "x", STEP, 1, 1, '{"status": "end"}', "[]"]
    rows = [*VARIABLES, row]
    home = write_home(tmp_path / "home", variables=rows)
    document = victim.import_source(home, dry_run=True)
    assert thread not in {each["original"] for each in document["threads"]}


def test_names_that_never_stop_changing_are_rejected(
    victim: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = write_home(tmp_path / "original")
    log = home / ".ocas/vars/_store.db-wal"

    def read_beside_a_writer(file: Path) -> bytes | None:
        content = home_module.read_plain(file)
        with log.open("ab") as stream:
            stream.write(b"frame")
        return content

    monkeypatch.setattr("uwf_import_original.names.read_plain", read_beside_a_writer)
    with pytest.raises(BundleError, match="it changes while it is read"):
        victim.import_source(home)
