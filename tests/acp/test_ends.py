"""What is left of a call: no timer, and files for their owner alone."""

import os
import threading
import time

import pytest
from tests.acp.test_agent import Place

from uwf_core.api import NeedsAnswer


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_no_timer_outlives_its_call(place):
    place.run()
    end = time.monotonic() + 1
    while left := [each for each in threading.enumerate() if isinstance(each, threading.Timer)]:
        assert time.monotonic() < end, left
        time.sleep(0.01)


def test_what_was_asked_is_kept_for_its_owner_alone_until_it_is_settled(place):
    before = os.umask(0)
    try:
        with pytest.raises(NeedsAnswer):
            place.run("asks")
    finally:
        os.umask(before)
    kept = list((place.root / "state").rglob("*"))
    assert {each.stat().st_mode & 0o077 for each in kept} == {0}
    assert sum(each.is_file() for each in kept) >= 1
