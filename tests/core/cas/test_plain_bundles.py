"""A bundle of ocas 0.4 is imported as nodes: checked like all others, and without names."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.import_original.homes import NODES, printed

from uwf_core.cas import node_file, tar
from uwf_core.cas.codec import decode
from uwf_core.client import Client
from uwf_core.errors import BundleError
from uwf_core.testing.project import Project


def ocas_bundle(file: Path, nodes: Mapping[str, bytes], names: bytes = b"") -> Path:
    """What `ocas export` writes: its checksums end with two NULs."""
    parts = []
    entries = [(f"cas/{ref}.bin", content) for ref, content in sorted(nodes.items())]
    for name, content in [*entries, ("vars.jsonl", names), ("tags.jsonl", b"")]:
        whole = NODES.get(name[4:-4])
        time = node_file.from_bytes(whole).timestamp_ms // 1000 if whole else 0
        head = tar.header(name, len(content), time)
        parts += [head[:155] + b"\0" + head[156:], content, tar.padding(len(content))]
    file.write_bytes(b"".join(parts) + tar.END)
    return file


def closure(ref: str) -> dict[str, bytes]:
    """A node of the recorded home, and all that its fields and types name."""
    found, waiting = dict[str, bytes](), [ref]
    while waiting:
        each = waiting.pop()
        if each in NODES and each not in found:
            found[each] = NODES[each]
            node = node_file.from_bytes(NODES[each])
            payload = decode(node.data)
            texts = payload.values() if isinstance(payload, dict) else ()
            waiting += [node.type, *(text for text in texts if isinstance(text, str))]
    return found


@pytest.fixture
def uwf(tmp_path: Path) -> Iterator[Client]:
    """Somebody with an empty store."""
    with Project(tmp_path).client() as client:
        yield client


OUTPUT = printed("steps", "report")["steps"][1]["output"]
REF = next(
    ref for ref, content in NODES.items() if decode(node_file.from_bytes(content).data) == OUTPUT
)


def test_its_nodes_are_stored_under_the_same_references(uwf: Client, tmp_path: Path) -> None:
    bundle = ocas_bundle(tmp_path / "b.tar", closure(REF), b'{"name": "@uwf/registry/x"}\n')
    document = uwf.import_bundle(bundle)
    assert (document["thread"], document["nodes"]) == (None, len(closure(REF)))
    assert uwf.nodes.get(REF) == OUTPUT
    assert uwf._engine.store.variables("@") == []
    again = uwf.import_bundle(bundle)
    assert (again["added"], again["imported"]) == (0, False)


def test_a_dry_run_stores_nothing(uwf: Client, tmp_path: Path) -> None:
    bundle = ocas_bundle(tmp_path / "b.tar", closure(REF))
    assert uwf.import_bundle(bundle, dry_run=True)["added"] == len(closure(REF))
    assert list(uwf._engine.store.records()) == []


def _without_its_type(nodes: dict[str, bytes]) -> None:
    del nodes[node_file.from_bytes(nodes[REF]).type]


def _under_another_name(nodes: dict[str, bytes]) -> None:
    nodes["0" * 13] = nodes.pop(REF)


def _changed(nodes: dict[str, bytes]) -> None:
    nodes[REF] = nodes[REF].replace(b"Shop", b"shop")


def _cut(nodes: dict[str, bytes]) -> None:
    nodes[REF] = nodes[REF][:-9] + nodes[REF][-8:]


@pytest.mark.parametrize("attack", [_without_its_type, _under_another_name, _changed, _cut])
def test_a_hostile_bundle_is_rejected_and_nothing_changes(
    uwf: Client, tmp_path: Path, attack: object
) -> None:
    nodes = closure(REF)
    attack(nodes)  # type: ignore[operator]
    bundle = ocas_bundle(tmp_path / "b.tar", nodes)
    with pytest.raises(BundleError, match=f"{REF}|{'0' * 13}"):
        uwf.import_bundle(bundle)
    assert list(uwf._engine.store.records()) == []


def test_a_bundle_of_a_thread_without_its_manifest_is_not_taken_for_nodes(
    uwf: Client, tmp_path: Path
) -> None:
    from tests.core.engine.conftest import LOOP

    project = Project(tmp_path / "other")
    project.workflow("loop", LOOP)
    with project.client() as other:
        thread = other.start("loop", "The task.")["thread"]
        other.export_thread(thread, tmp_path / "t.tar")
    content = (tmp_path / "t.tar").read_bytes()
    end = content.index(b"manifest.json")
    (tmp_path / "t.tar").write_bytes(content[:end] + tar.END)
    with pytest.raises(BundleError, match=r"lacks its manifest\.json"):
        uwf.import_bundle(tmp_path / "t.tar")
