"""A collection, or an import, that is killed has done everything or nothing."""

import random

import pytest
from rig import AGAIN, DONE, GOOD, Rig

POINTS = ["sweep:1", "committed:1"]
IMPORTS = ["node:9", "import:1", "commit:1", "committed:1"]


def removed(rig: Rig) -> str:
    """A thread that stays, and much that is left of one that was removed."""
    rig.play(DONE, AGAIN, DONE, GOOD)
    kept, gone = rig.start(), rig.start(prompt="Another.")
    for thread in (kept, gone):
        assert rig.uwf("thread", "exec", thread, "--until-done").exit_code == 0
    assert rig.uwf("thread", "rm", gone).exit_code == 0
    return kept


def killed(rig: Rig, *words: str, at: str) -> None:
    done = rig.uwf(*words, env={"UWF_TEST_CRASH": at})
    assert done.exit_code == -9, f"{at} is never reached: {done.stderr}"


@pytest.mark.parametrize("point", POINTS)
def test_a_collection_that_is_killed_has_freed_all_or_nothing(rig: Rig, point: str) -> None:
    kept = removed(rig)
    nodes = rig.uwf("cas", "verify").document["nodes"]
    freed = rig.uwf("cas", "gc", "--grace", "0s", "--dry-run").document["freed"]
    assert freed > 10
    killed(rig, "cas", "gc", "--grace", "0s", at=point)
    found = rig.uwf("cas", "verify")
    assert (found.exit_code, found.document["problems"]) == (0, [])
    assert found.document["nodes"] == nodes - (freed if point == "committed:1" else 0)
    assert rig.uwf("cas", "gc", "--grace", "0s").exit_code == 0
    assert rig.uwf("cas", "verify").document["nodes"] == nodes - freed
    assert rig.show(kept)["status"] == "completed"


@pytest.mark.parametrize("point", IMPORTS)
def test_an_import_that_is_killed_has_taken_all_or_nothing(rig: Rig, point: str) -> None:
    thread = removed(rig)
    file = str(rig.root / "thread.tar")
    assert rig.uwf("thread", "export", thread, "-o", file).exit_code == 0
    other = Rig(rig.root / "other")
    other.start()
    before = other.uwf("cas", "verify").document
    killed(other, "cas", "import", file, at=point)
    found = other.uwf("cas", "verify")
    assert (found.exit_code, found.document["problems"]) == (0, [])
    assert (found.document != before) == (point == "committed:1")
    assert other.uwf("cas", "import", file).document["imported"] == (point != "committed:1")
    assert other.show(thread)["status"] == "completed"
    assert other.uwf("cas", "verify").document["valid"]


def test_an_export_that_is_killed_leaves_no_half_a_bundle(rig: Rig) -> None:
    thread = removed(rig)
    file = rig.root / "thread.tar"
    file.write_bytes(b"what was there")
    killed(rig, "thread", "export", thread, "-o", str(file), at="bundle-file:1")
    assert file.read_bytes() == b"what was there"
    assert rig.uwf("thread", "export", thread, "-o", str(file)).exit_code == 0
    assert rig.uwf("bundle", "verify", str(file)).exit_code == 0


def test_collections_that_are_killed_at_any_moment(rig: Rig) -> None:
    kept = removed(rig)
    source = random.Random(3)
    for _ in range(4):
        process = rig.start_uwf("cas", "gc", "--grace", "0s")
        try:
            process.wait(source.uniform(0.1, 0.5))
        except Exception:
            process.kill()
        process.communicate()
        assert rig.uwf("cas", "verify").document["valid"]
    assert rig.show(kept)["status"] == "completed"
