"""The references that ocas 0.4.0 was measured to give."""

import json
from pathlib import Path

import pytest

from uwf_core.cas.codec import SAFE_INTEGER, decode, encode
from uwf_core.cas.hashing import META, PRIMITIVES, ref_of, sha256_of
from uwf_core.cas.schemas import KEYWORDS, META_SCHEMA
from uwf_core.errors import PayloadError

VECTORS = Path(__file__).parent / "vectors"
CASES = json.loads((VECTORS / "node-hashes.json").read_text())["cases"]
FILES = json.loads((VECTORS / "node-files.json").read_text())["node_files"]
REFUSED = {"Infinity": float("inf"), "{a: undefined, b: 1}": {"a": object(), "b": 1}}


def whole(text):
    """Whole numbers beyond the safe range stand for floats in the vectors."""
    number = int(text)
    return number if abs(number) <= SAFE_INTEGER else float(number)


def payload_of(case):
    if case["name"] == "65535-byte string":
        return "x" * 65535
    if "surrogate" in case["name"]:
        return "x" * 30 + "\ud800"
    return json.loads(case["payload_json"], parse_int=whole)


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.get("js") not in REFUSED], ids=lambda case: case["name"]
)
def test_a_node_has_the_reference_that_ocas_gives_it(case):
    data = encode(payload_of(case))
    if "cbor_hex" in case:
        assert data.hex() == case["cbor_hex"]
    assert ref_of(case["type"], data) == case["hash"]
    assert encode(decode(data)) == data


def test_every_measured_case_is_looked_at():
    assert len(CASES) == 66
    assert sum(case.get("js") in REFUSED for case in CASES) == 2


@pytest.mark.parametrize("written", REFUSED)
def test_what_ocas_stores_although_json_cannot_say_it_is_refused(written):
    with pytest.raises(PayloadError):
        encode(REFUSED[written])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file["file"])
def test_a_node_file_of_ocas_names_the_node_as_we_do(file):
    data = encode(file["payload"])
    assert f"nodes/{ref_of(file['type'], data)}.bin" == file["file"]
    assert encode("payload") + data + encode("timestamp") in bytes.fromhex(file["file_hex"])


def test_the_meta_schema_types_itself():
    data = encode(META_SCHEMA)
    assert ref_of(META, data) == META
    assert len(KEYWORDS) == 40


def test_the_primitives_are_the_schemas_of_their_names():
    for name, ref in PRIMITIVES.items():
        assert ref_of(META, encode({"type": name})) == ref


def test_the_digest_covers_the_bytes_that_the_reference_hashes():
    """SHA-256 of type and payload, known from any other tool (`printf … | sha256sum`)."""
    assert sha256_of(PRIMITIVES["string"], encode("hello")).hex() == (
        "b2c3dc7e71cb26fb5aed27a48c22d5fa4f14e8cdc0699b4b7bbe2d95871850e3"
    )
