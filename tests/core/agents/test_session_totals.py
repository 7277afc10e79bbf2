"""What a session has used in all becomes what each call used."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_core.agents.session_totals import SessionTotals, used_since
from uwf_core.api.agent import Usage, usage_payload
from uwf_core.errors import InternalFailure

COUNT = st.none() | st.integers(0, 10**6)


def test_the_difference_outlives_the_process_and_a_copy_begins_with_it(tmp_path: Path) -> None:
    first = SessionTotals(str(tmp_path), None)
    assert first.used(Usage(input_tokens=4)).input_tokens == 4
    assert first.used(Usage(input_tokens=10)).input_tokens == 10, "of the call, not since the event"
    first.keep("s")
    second = SessionTotals(str(tmp_path), "s")
    assert second.used(Usage(input_tokens=25)).input_tokens == 15
    second.keep("s")
    SessionTotals(str(tmp_path), "s").keep("copy")
    assert SessionTotals(str(tmp_path), "copy").used(Usage(input_tokens=30)).input_tokens == 5
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "totals").iterdir()} == {0o600}


@pytest.mark.parametrize("left", [None, "", "{", "[]", '{"version": 2}', '{"version": 1}',
                                  '{"version": 1, "usage": {"inputTokens": "x"}}'])  # fmt: skip
def test_where_the_total_before_is_not_known_the_call_is_not(
    tmp_path: Path, left: str | None
) -> None:
    SessionTotals(str(tmp_path), None).keep("s")
    (file,) = (tmp_path / "totals").iterdir()
    file.unlink() if left is None else file.write_text(left)
    used = SessionTotals(str(tmp_path), "s").used(Usage(input_tokens=25, duration_ms=3))
    assert used == Usage(duration_ms=3)


def test_a_full_disk_keeps_the_total_before_and_leaves_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = SessionTotals(str(tmp_path), None)
    first.used(Usage(input_tokens=10))
    first.keep("s")
    (file,) = (tmp_path / "totals").iterdir()
    second = SessionTotals(str(tmp_path), "s")
    second.used(Usage(input_tokens=25))

    def full(_self: Path, _target: Path) -> Path:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InternalFailure, match="No space left"):
        second.keep("s")
    assert list((tmp_path / "totals").iterdir()) == [file]
    assert SessionTotals(str(tmp_path), "s").used(Usage(input_tokens=11)).input_tokens == 1


def test_names_of_sessions_lead_nowhere_else(tmp_path: Path) -> None:
    for name in ("../../x", "a/b", "\0", "\ud800", "x" * 5000):
        SessionTotals(str(tmp_path / "state"), None).keep(name)
    assert [each.name for each in tmp_path.iterdir()] == ["state"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 1000), min_size=1), st.integers(0, 1000))
def test_the_calls_of_a_session_add_up_to_its_total(parts: list[int], began: int) -> None:
    before, total, found = usage_payload(Usage(input_tokens=began)), began, 0
    for part in parts:
        total += part
        found += used_since(before, Usage(input_tokens=total)).input_tokens or 0
        before = usage_payload(Usage(input_tokens=total))
    assert found == sum(parts)


@settings(max_examples=60, deadline=None)
@given(COUNT, COUNT)
def test_nothing_is_negative_and_nothing_unknown_is_zero(was: int | None, now: int | None) -> None:
    used = used_since(usage_payload(Usage(input_tokens=was)), Usage(input_tokens=now))
    if now is None or was is None:
        assert used.input_tokens is None
    else:
        assert used.input_tokens == (now - was if now >= was else now)
