"""Only somebody with a link of `uwf web` gets in."""

from web_site import WebSite

from uwf_web.keys import new_token, read_keys


def test_a_link_logs_in_once_and_leaves_no_token_in_the_address(web: WebSite) -> None:
    token = new_token(web.settings.home)
    first = web.stranger.get(f"/threads?token={token}&status=idle")
    assert first.status_code == 303
    assert first.headers["location"] == "/threads?status=idle"
    assert "HttpOnly; SameSite=Strict" in first.headers["set-cookie"]
    web.stranger.cookies.clear()
    assert web.stranger.get(f"/threads?token={token}").status_code == 401
    assert web.stranger.get("/threads").status_code == 401


def test_a_new_key_logs_every_browser_out(web: WebSite) -> None:
    assert web.visitor.get("/threads").status_code == 200
    read_keys(web.settings.home, renew=True)
    assert web.visitor.get("/threads").status_code == 401


def test_a_page_and_its_json_are_the_document_of_the_command(web: WebSite) -> None:
    assert web.visitor.get("/threads.json").json() == {"threads": []}
    assert "<h1>Threads</h1>" in web.visitor.get("/threads").text
