"""A bundle is data of strangers: whatever is wrong with it, it is refused and nothing changes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.core.engine.archives import Archive, File, node
from tests.core.engine.attacks import ATTACKS, TEXT, Attack, exchanged, line, manifest, set_to
from tests.core.engine.attacks_on_files import FILE_ATTACKS
from tests.core.engine.conftest import DONE, LOOP, REJECTED

from uwf_core.cas import bundle
from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import META
from uwf_core.client import Client
from uwf_core.errors import BundleError
from uwf_core.testing.project import Project

TIME = re.escape(encode("timestamp") + b"\x1b")
"""What stands before the eight bytes of a node's time, in ms."""


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of a thread with two steps and a failed attempt."""
    root = tmp_path_factory.mktemp("hostile")
    project = Project(root)
    project.workflow("loop", LOOP.replace("name: loop", "name: loop\nrecord: true"))
    (project.folder / "inner").mkdir()
    (project.folder / "inner" / "file").write_text("content")
    project.script([DONE, REJECTED, {"role": "developer", "fail": {"kind": "crashed"}}])
    with project.client() as uwf:
        thread = uwf.start("loop", "The task.")["thread"]
        uwf.exec(thread, count=3)
        uwf.export_thread(thread, root / "good.tar", with_files=True)
    return root / "good.tar"


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Somebody with a store of their own."""
    project = Project(tmp_path_factory.mktemp("victim"))
    project.workflow("loop", LOOP)
    with project.client() as uwf:
        uwf.start("loop", "Mine.")
        yield uwf


def test_the_bundle_that_the_attacks_begin_with_is_good(good: Path) -> None:
    assert Archive(good).data() == good.read_bytes()
    assert Archive(good).reseal().data() == good.read_bytes()
    assert Client.verify_bundle(good)["nodes"] == len(Archive(good).nodes)


@pytest.mark.parametrize(
    "attack",
    [
        *(pytest.param(each, id=name) for name, each in ATTACKS.items()),
        *(pytest.param(each, id=f"files: {name}") for name, each in FILE_ATTACKS.items()),
    ],
)
def test_a_hostile_bundle_is_refused_and_nothing_changes(
    attack: Attack, good: Path, victim: Client, tmp_path: Path
) -> None:
    file = tmp_path / "hostile.tar"
    file.write_bytes(attack(Archive(good)))
    assert file.read_bytes() != good.read_bytes(), "an attack that changes nothing"
    store = victim._engine.store
    before = sorted(store.edges()), store.rows("")
    with pytest.raises(BundleError) as refused:
        victim.import_bundle(file)
    assert refused.value.message
    assert (sorted(store.edges()), store.rows("")) == before
    assert [path.name for path in tmp_path.iterdir()] == ["hostile.tar"]


@pytest.mark.parametrize("number", range(0, len(ATTACKS) + len(FILE_ATTACKS), 8))
def test_whoever_asks_a_hostile_bundle_is_refused(
    number: int, good: Path, victim: Client, tmp_path: Path
) -> None:
    """One check serves all: some attacks of each kind show that nobody goes past it."""
    attack = [*ATTACKS.values(), *FILE_ATTACKS.values()][number]
    file = tmp_path / "hostile.tar"
    file.write_bytes(attack(Archive(good)))
    store = victim._engine.store
    before = sorted(store.edges()), store.rows("")
    with pytest.raises(BundleError):
        victim.import_bundle(file, as_new=True)
    with pytest.raises(BundleError):
        victim.import_bundle(file, dry_run=True)
    with pytest.raises(BundleError):
        Client.verify_bundle(file)
    assert (sorted(store.edges()), store.rows("")) == before


def test_a_bundle_of_another_layout_is_rejected_in_one_line(
    good: Path, victim: Client, tmp_path: Path
) -> None:
    file = tmp_path / "older.tar"
    changed = exchanged(
        *("title", "properties"),
        change=lambda schema: schema.update(description="another form"),
        every=True,
    )
    file.write_bytes(changed(Archive(good)))
    with pytest.raises(BundleError) as refused:
        victim.import_bundle(file)
    assert "was written by another version of uwf" in refused.value.message
    assert "its nodes of the kind '" in refused.value.message


@pytest.mark.parametrize(
    "harmless",
    [
        line(lambda each: None),
        exchanged("attempt", "output", change=lambda _: None),
        exchanged(change=lambda step: step["attempt"].update(cwd="/elsewhere")),
        manifest(lambda document: None),
        exchanged("oneOf", change=lambda schema: schema.update(title="x"), type_=META),
    ],
)
def test_the_attacks_are_refused_for_what_they_change_alone(
    harmless: Attack, good: Path, tmp_path: Path
) -> None:
    file = tmp_path / "harmless.tar"
    file.write_bytes(harmless(Archive(good)))
    Client.verify_bundle(file)


def test_a_fork_cannot_inherit_a_chain_that_leaves_a_step_out(
    victim: Client, tmp_path: Path
) -> None:
    """Steps of a thread count its events; those that it inherits are counted by the chain alone."""
    project = Project(tmp_path / "project")
    project.workflow("loop", LOOP)
    project.script([DONE, REJECTED, DONE])
    with project.client() as uwf:
        parent = uwf.start("loop", "The task.")["thread"]
        uwf.exec(parent, count=3)
        fork = uwf.fork(uwf.steps(parent)[3]["step"])["thread"]
        uwf.export_thread(fork, tmp_path / "fork.tar")

    file = tmp_path / "fork.tar"
    file.write_bytes(line(lambda each: each["tags"].pop("role.reviewer"))(Archive(file)))
    archive = Archive(file)
    head = json.loads(archive["manifest.json"].content)["head"]
    second = archive.payload(archive[f"cas/{head}.bin"])["prev"]
    first = archive.payload(archive[f"cas/{second}.bin"])["prev"]
    file.write_bytes(exchanged(change=set_to("prev", first))(archive))
    with pytest.raises(BundleError, match="is out of place in the chain"):
        victim.import_bundle(file)


def test_there_are_enough_attacks() -> None:
    assert len(ATTACKS) >= 60


@pytest.mark.parametrize(
    "caps",
    [
        bundle.Caps(nodes=5),
        bundle.Caps(node_bytes=100),
        bundle.Caps(file_bytes=100),
    ],
)
def test_a_bundle_has_a_largest_size(good: Path, caps: bundle.Caps) -> None:
    with pytest.raises(BundleError, match=r"more than|larger than"):
        bundle.Bundle(str(good), caps)


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "nothing"])
def test_what_is_no_file_is_no_bundle(kind: str, tmp_path: Path) -> None:
    import os

    path = tmp_path / "bundle"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/zero")
    with pytest.raises(BundleError):
        Client.verify_bundle(path)


def with_nodes(good: Path, file: Path, *nodes: File) -> Path:
    """The good bundle with further nodes."""
    archive = Archive(good)
    archive.files[:0] = nodes
    file.write_bytes(archive.reseal().data())
    return file


def test_many_schemas_are_not_compiled_one_after_the_other(good: Path, tmp_path: Path) -> None:
    """Each is within its limits and takes a quarter of a second; so many took minutes."""
    patterns = {r"\s" * 99 + str(number): {} for number in range(10)}
    schemas = [node(META, {"title": str(n), "patternProperties": patterns}) for n in range(100)]
    file = with_nodes(good, tmp_path / "dear.tar", *schemas)
    began = time.process_time()
    with pytest.raises(BundleError, match="schemas of the bundle take too long"):
        Client.verify_bundle(file)
    assert time.process_time() - began < 10


def test_the_patterns_of_a_type_are_compiled_once(good: Path, tmp_path: Path) -> None:
    named = {f"a{number}$": {"format": "ocas_ref"} for number in range(600)}
    type_ = node(META, {"items": {"patternProperties": named}})
    values = node(type_.name[4:17], [{"b": 0}] * 1_000)
    file = with_nodes(good, tmp_path / "named.tar", type_, values)
    began = time.process_time()
    with pytest.raises(BundleError, match="is not part of"):
        Client.verify_bundle(file)
    assert time.process_time() - began < 10


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_check_of_a_bundle(number: int, good: Path, tmp_path: Path) -> None:
    """The check is long by the number of nodes, whatever a library takes for one of them, and the
    signal comes as soon as the file is open.
    """
    type_ = node(META, {"type": "string"})
    file = with_nodes(
        good, tmp_path / "long.tar", type_, *(node(type_.name[4:17], f"{n}") for n in range(6_000))
    )
    command = [Path(sys.executable).with_name("uwf"), "bundle", "verify", file]
    env = {**os.environ, "UWF_HOME": str(tmp_path / "home")}
    child = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with child:
        while not has_open(child.pid, file):
            assert child.poll() is None, "it ended before it opened the file"
        child.send_signal(number)
        child.communicate(timeout=60)
    assert child.returncode in (130, -number), child.returncode


def has_open(pid: int, file: Path) -> bool:
    """Whether a process has a file open; elsewhere than on Linux, `lsof` knows."""
    if not Path("/proc/self/fd").is_dir():
        listed = subprocess.run(["lsof", "-p", str(pid)], capture_output=True, text=True)
        return str(file) in listed.stdout
    try:
        return any(each.readlink() == file for each in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False  # one was closed meanwhile, or the process ended


def test_every_cut_of_a_bundle_is_refused(good: Path, tmp_path: Path) -> None:
    data, file = good.read_bytes(), tmp_path / "cut.tar"
    for length in range(0, len(data), 1031):
        file.write_bytes(data[:length])
        with pytest.raises(BundleError):
            Client.verify_bundle(file)


def test_a_flipped_byte_of_a_bundle_is_refused(good: Path, tmp_path: Path) -> None:
    """But for what no digest covers: times of nodes, times and words for people of names, and the
    last byte of a header's checksum, which ocas writes in another way.
    """
    data, file = good.read_bytes(), tmp_path / "flipped.tar"
    names = range(data.index(b"vars.jsonl") + 512, data.index(b"tags.jsonl"))
    times = {at for key in re.finditer(TIME, data) for at in range(key.end(), key.end() + 8)}
    ends = set(range(155, len(data), 512))
    for at in set(range(0, len(data), 293)) - set(names) - times - ends:
        file.write_bytes(data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1 :])
        with pytest.raises(BundleError):
            Client.verify_bundle(file)


def test_text_is_stored_as_the_vectors_say(good: Path) -> None:
    assert node(TEXT, "hello").name == "cas/95ST8MZ0QTKP9.bin"
    assert node(TEXT, "hello").content.endswith(encode("timestamp") + encode(1_780_000_000_000))
