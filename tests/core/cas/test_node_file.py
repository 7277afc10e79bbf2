"""Nodes as files are byte for byte those of ocas 0.4, and nothing else is taken for one."""

import json
import tarfile
from pathlib import Path

import pytest
from cas_strategies import payloads
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_core.cas import tar
from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import PRIMITIVES, ref_of
from uwf_core.cas.node_file import NodeFile, from_bytes, to_bytes
from uwf_core.errors import BundleError, CorruptNodeError

FILES = json.loads((Path(__file__).parent / "vectors" / "node-files.json").read_text())[
    "node_files"
]
TIMES = st.integers(0, 2**53 - 1)


@pytest.mark.parametrize("vector", FILES, ids=lambda vector: vector["file"])
def test_a_node_file_is_the_one_that_ocas_wrote(vector):
    content = bytes.fromhex(vector["file_hex"])
    node = NodeFile(vector["type"], encode(vector["payload"]), vector["timestamp"])
    assert to_bytes(node) == content
    assert from_bytes(content) == node
    assert f"nodes/{ref_of(node.type, node.data)}.bin" == vector["file"]


@given(payload=payloads, timestamp=TIMES, data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_node_file_comes_back_and_is_cut_nowhere_unnoticed(payload, timestamp, data):
    node = NodeFile(PRIMITIVES["object"], encode(payload), timestamp)
    content = to_bytes(node)
    assert from_bytes(content) == node
    cut = content[: data.draw(st.integers(0, len(content) - 1))]
    try:
        read = from_bytes(cut)
    except CorruptNodeError:
        return
    assert to_bytes(read) == cut  # a payload may end as a node does: the name tells them apart
    assert ref_of(read.type, read.data) != ref_of(node.type, node.data)


@given(
    name=st.text("0123456789ABCDEFabcdef._-/", min_size=1, max_size=99),
    size=st.integers(0, 8**11 - 1),
    mtime=st.integers(0, 8**11 - 1),
)
@settings(max_examples=60)
def test_a_header_is_the_one_that_other_programs_write(name, size, mtime):
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = size, mtime, 0o644
    assert tar.header(name, size, mtime) == info.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(("size", "mtime"), [(8**11, 0), (0, 8**11), (0, -1)])
def test_what_no_header_can_say_is_refused(size, mtime):
    with pytest.raises(BundleError):
        tar.header("x", size, mtime)
