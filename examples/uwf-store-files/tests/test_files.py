"""The files on the disk have the layout of ocas, and a lost file is reported."""

from pathlib import Path

import pytest

from uwf_core.api import Record, StoreError
from uwf_store_files.backend import open_files
from uwf_store_files.node_file import pack, payload_of

# The node `"hello"` as ocas 0.4.0 wrote it.
TEXT = "7VQ43ZSJTEWA7"
HELLO = b"\x65hello"
WRITTEN_AT_MS = 1780000000000
FILE = bytes.fromhex(
    "a364747970656d37565134335a534a5445574137677061796c6f6164"
    "6568656c6c6f6974696d657374616d701b0000019e70448800"
)


def record(ref: str, data: bytes = HELLO) -> Record:
    return Record(ref, TEXT, b"0" * 32, data, (1, -2), WRITTEN_AT_MS, WRITTEN_AT_MS)


def test_a_node_is_a_file_that_ocas_reads(tmp_path: Path) -> None:
    store = open_files("files:store", str(tmp_path))
    store.put(record("0000000000001"))
    assert (tmp_path / "store/nodes/0000000000001.bin").read_bytes() == FILE
    assert (tmp_path / f"store/_index/{TEXT}").read_text() == "0000000000001\n"
    store.close()


@pytest.mark.parametrize("payload", [HELLO, b"\x69timestamp", b"\x74" + b"\x69timestamp" * 2, b""])
@pytest.mark.parametrize("time_ms", [0, 23, 24, 255, 256, 65535, 65536, 2**32, 2**63])
def test_a_payload_comes_back_whatever_is_in_it(payload: bytes, time_ms: int) -> None:
    assert payload_of(pack(TEXT, payload, time_ms)) == payload


def test_what_is_deleted_leaves_no_file_and_no_line(tmp_path: Path) -> None:
    store = open_files("files:store", str(tmp_path))
    for number in range(3):
        store.put(record(f"000000000000{number}"))
    assert store.delete(["0000000000001"], 2**62) == 1
    assert sorted(file.stem[-1] for file in (tmp_path / "store/nodes").iterdir()) == ["0", "2"]
    assert (tmp_path / f"store/_index/{TEXT}").read_text() == "0000000000000\n0000000000002\n"
    store.close()


@pytest.mark.parametrize("damage", [None, b"", b"garbage"])
def test_a_file_that_is_gone_or_damaged_is_told_with_its_path(
    tmp_path: Path, damage: bytes | None
) -> None:
    store = open_files("files:store", str(tmp_path))
    store.put(record("0000000000001"))
    file = tmp_path / "store/nodes/0000000000001.bin"
    if damage is None:
        file.unlink()
    else:
        file.write_bytes(damage)
    with pytest.raises(StoreError) as failure:
        store.get("0000000000001")
    assert failure.value.where == str(file)
    store.close()


def test_a_url_without_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="names no folder"):
        open_files("files:", str(tmp_path))
