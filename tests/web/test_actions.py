"""What a person does with a form is what the command would do, and is recorded as theirs."""

import pytest
from web_site import LETTER, WebSite

INPUT = """
input:
  properties:
    size: {enum: [1, 2, big]}
    flag: {type: boolean}
    names: {type: array, items: {type: string}}
    note: {type: string}
  required: [size]
"""


def test_a_run_is_started_sent_back_once_and_approved(web: WebSite) -> None:
    folder = str(web.project.folder)
    answer = web.visitor.send("/start/letter", "/start/letter", prompt="@secret.txt", cwd=folder)
    assert answer.status_code == 303, answer.text
    page = answer.headers["location"]
    thread = page.rpartition("/")[2]
    web.until(thread, "suspended", 1)
    assert web.visitor.get(page + ".json").json()["thread"]["task"] == "@secret.txt"
    forms = web.visitor.forms(page)
    back = next(each["fields"] for each in forms if each["fields"].get("status") == "changes")
    sent = web.visitor.post(f"{page}/resume", {**back, "field.comments": "-", "field.words": "12"})
    assert sent.status_code == 303, sent.text
    web.until(thread, "suspended", 3)
    late = web.visitor.post(f"{page}/resume", {**back, "field.comments": "again"})
    assert late.status_code == 409
    assert "has continued" in late.text
    forms = web.visitor.forms(page)
    approval = next(each["fields"] for each in forms if each["fields"].get("status") == "approved")
    assert web.visitor.post(f"{page}/resume", approval).status_code == 303
    web.until(thread, "completed", 4)
    result = web.visitor.get(page).text.partition('<h2 id="result">')[2].partition("<h2")[0]
    assert ">reader: approved</a>" in result
    assert "<dt>$status</dt>" in result
    with web.project.client() as uwf:
        steps = [uwf.step(row["step"]) for row in uwf.steps(thread)[1:]]
    assert steps[1]["output"] == {"$status": "changes", "comments": "-", "words": 12}
    assert [each["answered"] for each in steps] == [False, True, False, True]


def test_an_answer_that_the_form_does_not_allow_changes_nothing(web: WebSite) -> None:
    thread = web.waiting()
    page = f"/threads/{thread}"
    forms = web.visitor.forms(page)
    back = next(each["fields"] for each in forms if each["fields"].get("status") == "changes")
    for wrong in ({"field.comments": ""}, {"field.comments": "x", "field.words": "many"}):
        answer = web.visitor.post(f"{page}/resume", {**back, **wrong})
        assert answer.status_code in (400, 422), answer.text
        assert "Nothing has changed" in answer.text
    web.until(thread, "suspended", 1)


def test_a_thread_starts_only_in_a_folder_of_the_list(web: WebSite) -> None:
    answer = web.visitor.send("/start/letter", "/start/letter", prompt="Task", cwd="/etc")
    assert answer.status_code == 400
    assert "cannot be started in" in answer.text
    with web.project.client() as uwf:
        assert not uwf.list()


@pytest.mark.parametrize("agent", ["sh -c 'touch {}'", "./program", "/bin/true", "--help"])
def test_no_form_decides_which_program_runs(web: WebSite, agent: str) -> None:
    sign = web.project.folder / "sign"
    program = web.project.folder / "program"
    program.write_text(f"#!/bin/sh\ntouch {sign}\n")
    program.chmod(0o755)
    fields = {"prompt": "Write", "cwd": str(web.project.folder), "agent": agent.format(sign)}
    answer = web.visitor.send("/start/letter", "/start/letter", **fields)
    assert (answer.status_code, sign.exists()) == (400, False)
    with web.project.client() as uwf:
        assert list(uwf.list()) == []


def test_fork_poke_exec_ask_and_export(web: WebSite) -> None:
    thread = web.waiting()
    with web.project.client() as uwf:
        step = uwf.steps(thread)[1]["step"]
    page = f"/threads/{thread}/steps/{step}"
    forked = web.visitor.send(page, "/fork").headers["location"]
    assert web.visitor.send(forked, "/poke", text="Shorter").status_code == 303
    web.until(forked.rpartition("/")[2], "idle", 1)
    assert web.visitor.send(forked, "/exec").status_code == 303
    web.until(forked.rpartition("/")[2], "suspended", 1)
    answer = web.visitor.send(page, "/ask", text="Why?")
    assert answer.status_code == 200, answer.text
    assert "It is not stored" in answer.text
    for name in ("bundle", "markdown"):
        found = web.visitor.get(f"/threads/{thread}/export?format={name}")
        assert found.headers["content-disposition"].startswith("attachment;")
        assert found.headers["content-security-policy"] == "sandbox"
        assert found.content
    assert web.visitor.get(f"/threads/{thread}/export?format=nope").status_code == 400


def test_the_input_of_a_workflow_is_typed_by_its_schema(web: WebSite) -> None:
    text = LETTER.replace("roles:", INPUT + "roles:", 1)
    web.project.workflow("letter", text)
    page = web.visitor.get("/start/letter").text
    assert all(f'name="field.{name}"' in page for name in ("size", "flag", "names", "note"))
    fields = {"size": "2", "flag": "true", "names": "a\r\n\r\nb", "note": "@x"}
    form = next(each for each in web.visitor.forms("/start/letter"))
    typed = {f"field.{name}": value for name, value in fields.items()}
    given = {**form["fields"], **typed, "prompt": "Task", "cwd": str(web.project.folder)}
    answer = web.visitor.post("/start/letter", given)
    assert answer.status_code == 303, answer.text
    thread = answer.headers["location"].rpartition("/")[2]
    with web.project.client() as uwf:
        assert uwf.show(thread)["input"] == {
            "size": 2, "flag": True, "names": ["a", "b"], "note": "@x"
        }  # fmt: skip
