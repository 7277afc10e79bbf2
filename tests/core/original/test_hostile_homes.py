"""A home is data of strangers: whatever is wrong with it, it is rejected and nothing changes."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.core.original.homes import NODES, THREADS, VARIABLES, printed, write_home

from uwf_core.cas import node_file
from uwf_core.cas.codec import decode, encode
from uwf_core.client import Client
from uwf_core.errors import BundleError, UwfError
from uwf_core.original.importing import import_original
from uwf_core.testing.project import Project

STEP = printed("steps", "report")["steps"][1]["hash"]


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Somebody with an empty store."""
    with Project(tmp_path_factory.mktemp("victim")).client() as uwf:
        yield uwf


def _step_with(**fields: object) -> bytes:
    node = node_file.from_bytes(NODES[STEP])
    return node_file.to_bytes(node._replace(data=encode({**decode(node.data), **fields})))


def _variables(**columns: str) -> list[list[object]]:
    places = {"name": 0, "value": 2, "tags": 5}
    rows = [[*row] for row in VARIABLES]
    for name, text in columns.items():
        rows[-1][places[name]] = text
    return rows


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
        import_original(victim._engine, str(home))
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
        document = import_original(victim._engine, str(home))
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
            import_original(victim._engine, str(home))
    assert victim._engine.store.variables("@") == []
