"""A script that shares no code with uwf derives every route and prompt of a bundle, and finds each
change, also where somebody has made every reference, digest and root right again.
"""

import json
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.exports.tampering import CHANGES, Forgery, changed_deliverable

from benchmarks.size import Module
from uwf_core.client import Client
from uwf_core.errors import BundleError

SCRIPT = Path(__file__).parents[2] / "examples" / "verify-bundle" / "verify_bundle.py"
_ALONE = """
import builtins, runpy, sys
real = builtins.__import__
def guarded(name, *rest):
    assert not name.startswith("uwf"), name
    return real(name, *rest)
builtins.__import__ = guarded
for path in sys.argv[1:]:
    sys.argv = [SCRIPT, path]
    try:
        runpy.run_path(SCRIPT, run_name="__main__")
    except SystemExit as error:
        print(str(error).splitlines()[0])
"""


def verified(*bundles: Path) -> list[str]:
    """What the script says of each bundle, in a process in which nothing of uwf can be imported."""
    script = _ALONE.replace("SCRIPT", repr(str(SCRIPT)))
    words = [sys.executable, "-I", "-c", script, *map(str, bundles)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert len(said) == len(bundles), said
    return said


@pytest.fixture(scope="module")
def bundles(
    recorded: tuple[Any, Mapping[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Path]:
    uwf, threads = recorded
    folder = tmp_path_factory.mktemp("bundles")
    for name, thread in threads.items():
        uwf.export_thread(thread.id, folder / f"{name}.tar")
    return {name: folder / f"{name}.tar" for name in threads}


def test_the_script_is_short() -> None:
    assert Module(SCRIPT, SCRIPT.parent).code_lines <= 320


def test_every_route_and_prompt_is_derived(bundles: Mapping[str, Path]) -> None:
    for said in verified(*bundles.values()):
        assert said.startswith("verified: "), said


def test_a_bundle_that_is_written_again_unchanged_is_verified(
    bundles: Mapping[str, Path], tmp_path: Path
) -> None:
    again = [Forgery(file).write(tmp_path / name) for name, file in bundles.items()]
    for said, file in zip(verified(*again), bundles.values(), strict=True):
        assert said.startswith("verified: "), said
        with tarfile.open(file) as tar:
            root = json.load(tar.extractfile("manifest.json"))["root"]  # type: ignore[arg-type]
        assert root in said


def test_each_change_by_somebody_who_knows_the_format_is_found(
    bundles: Mapping[str, Path], tmp_path: Path
) -> None:
    forged = dict[str, Path]()
    for name, file in bundles.items():
        for change in CHANGES:
            forgery = Forgery(file)
            try:
                change(forgery)
            except (StopIteration, AssertionError, ValueError, IndexError):
                continue  # the thread has nothing like it
            forged[f"{change.__name__} of {name}"] = forgery.write(
                tmp_path / f"{name}-{change.__name__}"
            )
    assert len(forged) >= 10 * (len(bundles) - 1), [*forged]
    missed = [
        (what, said)
        for what, said in zip(forged, verified(*forged.values()), strict=True)
        if not said.startswith("NOT VERIFIED: ")
    ]
    assert missed == []


def test_uwf_finds_a_form_of_the_reply_that_does_not_follow_from_the_schema(
    bundles: Mapping[str, Path], tmp_path: Path
) -> None:
    """Also where no prompt has it, or all have the same, which the script cannot know."""
    for name, file in bundles.items():
        Client.verify_bundle(file)
        forgery = Forgery(file)
        changed_deliverable(forgery)
        forged = forgery.write(tmp_path / name)
        with pytest.raises(BundleError, match="not what its schema and edges say"):
            Client.verify_bundle(forged)


def test_changed_bytes_are_found(bundles: Mapping[str, Path], tmp_path: Path) -> None:
    for name, file in bundles.items():
        forgery = Forgery(file)
        step = forgery.steps()[0]
        place = f"cas/{forgery.nodes[step]['payload']['attempt']['prompt']}.bin"
        data = file.read_bytes()
        with tarfile.open(file) as tar:
            at = tar.getmember(place).offset_data
        changed = data[: at + 60] + bytes([data[at + 60] ^ 1]) + data[at + 61 :]
        (tmp_path / name).write_bytes(changed)
        [said] = verified(tmp_path / name)
        assert said == f"NOT VERIFIED: {place[4:-4]} is changed"


def test_a_bundle_that_would_take_forever_is_ended(
    bundles: Mapping[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "manifest.json").write_text('{"nodes": [["A", ""]]}')
    levels = (
        b"\xd8\x1c\x82" * 40
        + b"\x00"
        + b"".join(b"\xd8\x1d" + bytes([0x18, n]) for n in range(39, -1, -1))
    )  # a list with a list twice, 40 times
    (tmp_path / "node").write_bytes(b"\xa2\x64type\x61A\x67payload" + levels)
    with tarfile.open(tmp_path / "hostile.tar", "w") as tar:
        tar.add(tmp_path / "manifest.json", "manifest.json")
        tar.add(tmp_path / "node", "cas/A.bin")
    program = (
        SCRIPT.read_text().replace("RLIMIT_CPU, 600", "RLIMIT_CPU, 1").replace("4 << 30", "1 << 30")
    )
    words = [sys.executable, "-I", "-c", program, str(tmp_path / "hostile.tar")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "verified:" not in done.stdout
