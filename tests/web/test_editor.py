"""The editor of workflow files: what it saves, what it refuses, what it tells."""

import re
from pathlib import Path

import pytest
from web_site import LETTER, WebSite

from uwf_core.errors import UsageError

WRONG = LETTER.replace("role: $END", "role: reeder")


@pytest.fixture
def file(web: WebSite) -> Path:
    return web.project.folder / ".workflow" / "letter.yaml"


def text_of(page: str) -> str:
    found = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page, re.DOTALL)
    assert found
    return found[1].replace("&quot;", '"').replace("&#x27;", "'")


def test_the_page_has_the_file_its_problems_and_its_graph(web: WebSite, file: Path):
    file.write_text(WRONG)
    page = web.visitor.get("/editor?name=letter").text
    assert text_of(page) == WRONG
    line = next(n for n, each in enumerate(WRONG.split("\n"), 1) if "reeder" in each)
    assert f'data-line="{line}"' in page
    assert "unknown role" in page
    assert re.search(r"✗ \d errors?", page)
    file.write_text(LETTER)
    page = web.visitor.get("/editor?name=letter").text
    assert "✓ valid" in page
    assert "<svg" in page


def test_a_saved_text_is_in_the_file_with_the_line_ends_of_a_file(web: WebSite, file: Path):
    text = LETTER.replace("goal: Write", "goal: Write it well")
    answer = web.visitor.send(
        "/editor?name=letter", "/editor/save", text=text.replace("\n", "\r\n")
    )
    assert answer.status_code == 303
    assert answer.headers["location"] == "/editor?name=letter&saved=yes"
    assert file.read_text() == text
    assert "Saved." in web.visitor.get(answer.headers["location"]).text


def test_a_file_that_was_changed_meanwhile_is_kept_and_both_are_shown(web: WebSite, file: Path):
    form = web.visitor.forms("/editor?name=letter")[0]
    theirs, mine = LETTER.replace("goal: Write", "goal: theirs"), LETTER + "# mine\n"
    file.write_text(theirs)
    answer = web.visitor.post(form["action"], {**form["fields"], "text": mine})
    assert answer.status_code == 409
    assert file.read_text() == theirs
    assert "was changed since you opened it" in answer.text
    assert "goal: theirs" in answer.text
    assert text_of(answer.text) == mine
    digest = re.search(r'name="sha256" value="(\w+)"', answer.text)
    assert digest
    again = {**form["fields"], "text": mine, "sha256": digest[1]}
    assert web.visitor.post(form["action"], again).status_code == 303
    assert file.read_text() == mine


def test_a_new_workflow_begins_with_the_starter_or_an_example(web: WebSite):
    page = web.visitor.get("/editor?name=mine").text
    assert "name: mine" in text_of(page)
    assert "(new)" in page
    assert "✓ valid" in page
    assert "name: mine" in text_of(web.visitor.get("/editor?name=mine&from=fix-bug").text)
    assert not (web.project.folder / ".workflow" / "mine.yaml").exists()
    answer = web.visitor.send("/editor?name=mine", "/editor/save", text="name: mine\n")
    assert answer.status_code == 303
    assert (web.project.folder / ".workflow" / "mine.yaml").read_text() == "name: mine\n"


@pytest.mark.parametrize("name", ["../letter", "a/b", "", ".x", "..%2fx"])
def test_nothing_outside_of_the_folder_is_read_or_written(web: WebSite, name: str):
    assert web.visitor.get("/editor").status_code == 400
    assert web.visitor.get(f"/editor?name={name}").status_code == 400
    fields = {**web.visitor.forms("/editor?name=letter")[0]["fields"], "text": "x", "name": name}
    assert web.visitor.post("/editor/save", fields).status_code == 400
    assert sorted(each.name for each in web.project.folder.rglob("*")) == [
        ".workflow",
        "letter.yaml",
    ]


def test_a_linked_file_is_neither_shown_nor_replaced(web: WebSite, file: Path, tmp_path: Path):
    secret = tmp_path / "secret.yaml"
    secret.write_text("secret")
    (file.parent / "linked.yaml").symlink_to(secret)
    answer = web.visitor.get("/editor?name=linked")
    assert answer.status_code == 400
    assert "follows no links" in answer.text


def test_a_saved_workflow_with_programs_stays_untrusted(web: WebSite):
    web.project.trust()
    program = """\
version: 1
name: letter
roles:
  writer:
    program: {argv: [touch, ran], statuses: {0: done}}
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: writer, prompt: x}
    resume: {role: writer, prompt: x}
  writer: {done: {role: $END, prompt: x}}
"""
    answer = web.visitor.send("/editor?name=letter", "/editor/save", text=program)
    assert answer.headers["location"].endswith("saved=withheld")
    assert "uwf config trust" in web.visitor.get(answer.headers["location"]).text
    with web.open() as uwf:
        with pytest.raises(UsageError, match="not allowed"):
            uwf.start("letter", "x")
        web.project.trust()
        uwf.start("letter", "x")


def test_a_text_is_checked_while_it_is_written_and_not_saved(web: WebSite, file: Path):
    fields = web.visitor.forms("/editor?name=letter")[0]["fields"]
    answer = web.visitor.post("/editor/check-live", {**fields, "text": WRONG})
    assert answer.status_code == 200
    assert answer.text.lstrip().startswith('<p id="verdict"')
    assert "unknown role" in answer.text
    whole = web.visitor.post("/editor/check", {**fields, "text": WRONG})
    assert text_of(whole.text) == WRONG
    assert "unknown role" in whole.text
    assert file.read_text() == LETTER


def test_a_check_never_returns_the_text_of_an_include(web: WebSite, file: Path):
    (file.parent / "notes.txt").write_text("secret-word")
    fields = web.visitor.forms("/editor?name=letter")[0]["fields"]
    for place in ("role: $END", "goal: Write", "name: letter"):
        text = LETTER.replace(place, f"{place.partition(':')[0]}: !include notes.txt")
        for path in ("/editor/check-live", "/editor/check"):
            answer = web.visitor.post(path, {**fields, "text": text})
            assert answer.status_code == 200
            assert "secret-word" not in answer.text


def test_a_form_without_our_value_saves_nothing(web: WebSite, file: Path):
    fields = web.visitor.forms("/editor?name=letter")[0]["fields"]
    answer = web.visitor.post("/editor/save", {**fields, "text": "x", "csrf": "0" * 32})
    assert answer.status_code == 403
    assert file.read_text() == LETTER


def test_a_server_that_only_shows_saves_nothing(tmp_path: Path):
    web = WebSite(tmp_path, read_only=True)
    assert "/editor" not in web.visitor.get("/workflows").text
    assert "/editor" not in web.visitor.get("/workflows/letter").text
    assert web.visitor.post("/editor/save", {"name": "letter", "text": "x"}).status_code == 403
