"""A compaction that is killed has stored the summary or nothing."""

import pytest
from rig import AGAIN, DONE, Rig


@pytest.mark.parametrize("point", ["compact:1", "commit:1", "log:1"])
def test_a_compaction_that_is_killed_has_stored_all_or_nothing(rig: Rig, point: str) -> None:
    rig.play(DONE, AGAIN, DONE, AGAIN)
    thread = rig.start()
    assert rig.uwf("thread", "exec", thread, "-c", "2").exit_code == 0
    words = ("thread", "compact", thread, "--text", "So far.")
    killed = rig.uwf(*words, env={"UWF_TEST_CRASH": point})
    assert killed.exit_code == -9, killed.stderr
    is_stored = point == "log:1"
    assert (rig.show(thread)["compacted"] is not None) == is_stored
    assert rig.uwf("cas", "verify").document["problems"] == []
    assert rig.uwf(*words).exit_code == (2 if is_stored else 0)
    assert rig.uwf("thread", "exec", thread).exit_code == 0
    assert rig.uwf("replay", thread).exit_code == 0
