"""Every page, link, export and form of every shipped example, in each state of a thread."""

import html
import re
from importlib.resources import files
from typing import Any

from web_site import Visitor, WebSite

from uwf_core.client import Client

EXAMPLES = sorted(
    each.name.removesuffix(".yaml")
    for each in files("uwf_core.examples").iterdir()
    if each.name.endswith(".yaml")
)
WITH_HEAD = ("exec", "resume", "poke", "stop", "cancel")


def links_of(page: str) -> set[str]:
    """The links of a page to this server, without those within a page."""
    found = map(html.unescape, re.findall(r'(?:href|src)="(/[^"]*)"', page))
    return {each.partition("#")[0] for each in found}


def crawl(visitor: Visitor, *begin: str) -> dict[str, int]:
    """The status of each link that can be reached; a list is read up to its first page."""
    left, found = list(begin), dict[str, int]()
    while left:
        path = left.pop()
        if path in found or path.startswith("/static/") or path == "/stream":
            continue
        answer = visitor.get(path)
        found[path] = answer.status_code
        if "text/html" in answer.headers.get("content-type", "") and "attachment" not in str(
            answer.headers.get("content-disposition")
        ):
            assert_forms(answer.text)
            left += links_of(answer.text)
    return found


def assert_forms(page: str) -> None:
    """Each form of a thread has the head for which it was made, and the value of the login."""
    for action, body in re.findall(r'<form method="post" action="([^"]+)"[^>]*>(.*?)</form>',
                                   page, re.DOTALL):  # fmt: skip
        assert 'name="csrf"' in body, action
        if "/threads/" in action and action.endswith(WITH_HEAD):
            assert 'name="head" value="' in body, action


def example_of(schema: dict[str, Any]) -> Any:
    """A value of a simple schema."""
    if "enum" in schema:
        return schema["enum"][0]
    values: dict[str, Any] = {"array": [], "integer": 1, "number": 1, "boolean": True}
    if schema.get("type") == "array" and schema.get("minItems"):
        return [example_of(schema["items"])] * int(schema["minItems"])
    if schema.get("type") == "object":
        return {name: example_of(each) for name, each in schema["properties"].items()}
    return values.get(schema.get("type", ""), "x")


def in_every_state(uwf: Client, example: str) -> list[str]:
    """Threads of an example: not begun, of a person, of an agent that fails, cancelled."""
    schema = uwf.workflow(example).get("input")
    needed = schema["properties"] if schema else {}
    given = {name: example_of(each) for name, each in needed.items()} if schema else None
    agents = (None, "human", "mock", None)
    threads = [uwf.start(example, "A task", input=given, agent=each)["thread"] for each in agents]
    for each in threads[1:3]:
        uwf.exec(each)
    uwf.cancel(threads[3])
    return threads


def test_no_link_of_an_example_is_dead_in_any_state(web: WebSite) -> None:
    """found while using uwf; kind: web."""
    for example in EXAMPLES:
        text = (files("uwf_core.examples") / f"{example}.yaml").read_text()
        web.project.workflow(example, text)
    assert web.project.uwf("config", "trust", ".").exit_code == 0
    with web.project.client() as uwf:
        threads = [each for example in EXAMPLES for each in in_every_state(uwf, example)]
    pages = [f"/threads/{each}" for each in threads]
    begin = [f"/{kind}/{example}" for kind in ("workflows", "start") for example in EXAMPLES]
    found = crawl(web.visitor, *pages, *begin)
    assert {path: status for path, status in found.items() if status >= 400} == {}
    for page in pages:
        assert any(path.startswith(f"{page}/export?format=markdown") for path in found), page
        assert any(path.startswith(page) and path.endswith(".json") for path in found), page


def test_no_link_of_a_thread_is_dead_from_its_start_to_its_end(web: WebSite) -> None:
    """found while using uwf; kind: web."""
    thread = web.waiting()
    assert max(crawl(web.visitor, f"/threads/{thread}").values()) == 200
    with web.project.client() as uwf:
        uwf.resume(thread, answer="$status=approved")
        limited = uwf.start("letter", "Write", limits={"maxSteps": 1})["thread"]
        uwf.exec(limited, until_done=True)
    found = crawl(web.visitor, f"/threads/{thread}", f"/threads/{limited}")
    assert {path: status for path, status in found.items() if status >= 400} == {}


def test_no_link_of_a_running_thread_is_dead(web: WebSite) -> None:
    """found while using uwf; kind: web: its bundle cannot be exported, and was offered."""
    agent = web.project.folder / "agent.sh"
    agent.write_text("#!/bin/sh\nexec sleep 300\n")
    agent.chmod(0o755)
    with web.project.client() as uwf:
        thread = uwf.start("letter", "Write", agent=str(agent))["thread"]
        uwf.exec(thread, background=True)
        try:
            web.until(thread, "running", 0)
            found = crawl(web.visitor, f"/threads/{thread}")
        finally:
            uwf.stop(thread)
    assert {path: status for path, status in found.items() if status >= 400} == {}
    assert any("export?format=markdown" in path for path in found)


def test_a_form_that_fails_keeps_what_was_written(web: WebSite) -> None:
    """kind: people."""
    page = f"/threads/{web.waiting()}"
    forms = web.visitor.forms(page)
    back = next(each["fields"] for each in forms if each["fields"].get("status") == "changes")
    sent = {**back, "field.comments": "Too <long>", "field.words": "many"}
    refused = web.visitor.post(f"{page}/resume", sent)
    assert refused.status_code == 422
    assert "Too &lt;long&gt;</textarea>" in refused.text and 'role="alert"' in refused.text
    folder = str(web.project.folder)
    refused = web.visitor.send("/start/letter", "/start/letter", prompt="My task", cwd="/etc")
    assert refused.status_code == 400 and "My task</textarea>" in refused.text
    assert folder in refused.text


def test_a_question_needs_an_answer_or_an_explicit_button(web: WebSite) -> None:
    """found while using uwf; kind: people."""
    asks = {"role": "writer", "suspend": {"reason": "Which colour?"}}
    done = {"role": "writer", "output": {"$status": "written", "text": "x"}}
    web.project.script([asks, done], by_role=True)
    page = f"/threads/{web.waiting()}"
    shown = web.visitor.get(page).text
    assert "Your answer" in shown and "Continue without an answer" in shown
    assert (
        "optional"
        not in shown.partition("Your answer")[2].partition("</form>")[0].partition("Agent")[0]
    )
    refused = web.visitor.send(page, "/resume", text=" ")
    assert refused.status_code == 409 and "waits for an answer" in refused.text
    assert web.visitor.send(page, "/resume", text=" ", without_answer="true").status_code == 303
    web.until(page.rpartition("/")[2], "suspended", 2)
