"""Only somebody with a link of `uwf web` gets in."""

import os
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.disk import REPLACED, fill_disk, watched
from web_site import WebSite

from uwf_core.errors import UsageError
from uwf_web.keys import COOKIE_SECONDS, TOKENS, Keys, new_token, read_keys


def test_a_link_logs_in_once_and_leaves_no_token_in_the_address(web: WebSite) -> None:
    token = new_token(web.settings.home)
    first = web.stranger.get(f"/threads?token={token}&status=idle")
    assert first.status_code == 303
    assert first.headers["location"] == "/threads?status=idle"
    assert "HttpOnly; SameSite=Strict" in first.headers["set-cookie"]
    web.stranger.cookies.clear()
    assert web.stranger.get(f"/threads?token={token}").status_code == 401
    assert web.stranger.get("/threads").status_code == 401


@pytest.mark.parametrize("token", ["", "x", "../web.key", "%00", "a" * 5000, "%ff"])
def test_a_token_that_was_not_given_out_logs_nobody_in(web: WebSite, token: str) -> None:
    answer = web.stranger.get(f"/threads?token={quote(token, safe='%')}")
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_a_look_ahead_at_the_link_does_not_use_it(web: WebSite) -> None:
    token = new_token(web.settings.home)
    assert web.stranger.request("HEAD", f"/threads?token={token}", {}).status_code == 401
    assert web.stranger.get(f"/threads?token={token}").status_code == 303


def test_a_link_never_leads_away_from_the_server(web: WebSite) -> None:
    token = new_token(web.settings.home)
    answer = web.stranger.get(f"{web.origin}//evil.example/x?token={token}")
    assert answer.headers["location"] == "/evil.example/x"


def test_a_new_key_logs_every_browser_out(web: WebSite) -> None:
    assert web.visitor.get("/threads").status_code == 200
    host = read_keys(web.settings.home).host
    assert read_keys(web.settings.home, renew=True).host == host
    assert web.visitor.get("/threads").status_code == 401


def test_a_cookie_is_accepted_for_thirty_days_and_only_as_it_was_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = Keys(b"k" * 32, "host")
    cookie = keys.new_cookie()
    session = keys.session_of(cookie)
    assert session is not None
    for wrong in (
        "",
        "..",
        cookie[:-1],
        "x" + cookie,
        cookie.replace(".", "", 1),
        "1.a." + "0" * 64,
    ):
        assert keys.session_of(wrong) is None
    assert Keys(b"l" * 32, "host").session_of(cookie) is None
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + COOKIE_SECONDS + 2)
    assert keys.session_of(cookie) is None


def test_the_key_and_tokens_are_private(web: WebSite) -> None:
    new_token(web.settings.home)
    home = web.settings.home
    for file in (home / "web.key", *(home / "web.tokens").iterdir()):
        assert file.stat().st_mode & 0o777 == 0o600
    assert (home / "web.tokens").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(("age", "status"), [(590, 303), (610, 401)])
def test_a_link_works_for_ten_minutes(web: WebSite, age: int, status: int) -> None:
    token = new_token(web.settings.home)
    grow_old(web.settings.home, age)
    assert web.stranger.get(f"/threads?token={token}").status_code == status


def test_a_new_link_deletes_those_that_work_no_more(web: WebSite) -> None:
    home = web.settings.home
    old = new_token(home)
    grow_old(home, 610)
    young = new_token(home)
    grow_old(home, 590)
    new_token(home)
    assert len(list((home / TOKENS).iterdir())) == 2
    assert web.stranger.get(f"/threads?token={old}").status_code == 401
    assert web.stranger.get(f"/threads?token={young}").status_code == 303


def grow_old(home: Path, seconds: int) -> None:
    """Let all links be so old."""
    for file in (home / TOKENS).iterdir():
        os.utime(file, (time.time() - seconds,) * 2)


def test_a_new_key_survives_a_power_cut_and_a_full_disk_keeps_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = watched(monkeypatch)
    keys = read_keys(tmp_path)
    assert asked == REPLACED
    fill_disk(monkeypatch)
    with pytest.raises(UsageError, match="No space left"):
        read_keys(tmp_path, renew=True)
    assert read_keys(tmp_path) == keys
    assert [each.name for each in tmp_path.iterdir()] == ["web.key"]
