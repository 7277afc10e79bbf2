"""The pages of `uwf web` about workflows, comparisons and reasons in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser
from web_server import WebServer

REVIEWED = """
version: 1
name: reviewed
description: A text is written, checked by a program and approved by a person.
roles:
  writer:
    description: Writes the text, and changes it until the reviewer and the owner agree.
    goal: Write a text of one sentence.
    frontmatter:
      properties:
        $status: {const: written}
        text: {type: string}
      required: [$status, text]
  reviewer:
    description: Judges the text with fresh eyes.
    goal: Find what is wrong.
    frontmatter:
      oneOf:
        - properties: {$status: {const: agrees}}
          required: [$status]
        - properties: {$status: {const: objects}, why: {type: string}}
          required: [$status, why]
        - properties: {$status: {const: looks-again}}
          required: [$status]
  owner:
    description: Decides whether the text goes out.
    goal: Approve it, or say what to change.
    human: true
    frontmatter:
      oneOf:
        - properties: {$status: {const: approved}}
          required: [$status]
        - properties:
            $status: {const: changes}
            comment: {type: string, description: What should be different.}
          required: [$status, comment]
graph:
  $START:
    new: {role: writer, prompt: "Write it."}
    resume: {role: writer, prompt: "The owner wants more."}
  writer:
    written: {role: reviewer, prompt: "Review this: {{{text}}}"}
  reviewer:
    agrees: {role: owner, prompt: "May this go out?"}
    objects: {role: writer, prompt: "Change it: {{{why}}}"}
    looks-again: {role: reviewer, prompt: "Look once more."}
  owner:
    approved: {role: $END, prompt: Done.}
    changes: {role: writer, prompt: "Change it: {{{comment}}}"}
"""
WRITER = {"role": "writer", "output": {"$status": "written", "text": "A sentence."}}
OBJECTS = {"role": "reviewer", "output": {"$status": "objects", "why": "It is too short."}}
AGAIN = {"role": "reviewer", "output": {"$status": "looks-again"}}
AGREES = {"role": "reviewer", "output": {"$status": "agrees"}}
BROKEN = REVIEWED.replace("name: reviewed", "name: broken").replace("role: $END", "role: $ENDE")

PAGES = {
    "workflows": "/workflows",
    "workflow": "/workflows/reviewed",
    "versions": "/workflows/{old}/diff/reviewed",
    "editor": "/editor?name=reviewed",
    "editor-broken": "/editor?name=broken",
    "compare": "/threads/{thread}/compare",
    "thread-diff": "/threads/{thread}/diff/{other}",
    "why": "/threads/{thread}/why",
    "usage": "/usage",
    "agents": "/agents",
    "evaluations": "/evaluations",
    "thread": "/threads/{thread}",
}
SERIOUS = """
async () => (await axe.run()).violations
  .filter(each => ["serious", "critical"].includes(each.impact))
  .map(each => [each.id, each.nodes.map(node => node.html.slice(0, 200))])
"""
WIDE = "document.scrollingElement.scrollWidth"


class Shown:
    """A server whose threads show every kind of page: one waits for its owner after an objection
    and a second look, another one had neither.
    """

    def __init__(self, server: WebServer) -> None:
        self.server = server
        self.project = server.project
        self.project.workflow("reviewed", REVIEWED.replace("A text is", "A text was"))
        self.other = self._run([WRITER, AGREES], "A text about swallows.")
        self.old = self.project.uwf("thread", "show", self.other).document["workflow"]
        self.project.workflow("reviewed", REVIEWED)
        self.project.workflow("broken", BROKEN)
        self.thread = self._run([WRITER, OBJECTS, WRITER, AGAIN, AGREES], "A text about cranes.")
        self.step = self.project.uwf("step", "list", self.thread).document["steps"][-1]["step"]

    def _run(self, script: list[dict[str, Any]], task: str) -> str:
        self.project.script(script)
        with self.project.client() as uwf:
            thread = uwf.start("reviewed", task)["thread"]
            uwf.exec(thread, until_done=True)
        return str(thread)

    def url(self, path: str) -> str:
        names = {"thread": self.thread, "other": self.other, "old": self.old}
        return self.server.origin + path.format(**names)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    server = WebServer(tmp_path_factory.mktemp("web"))
    yield Shown(server)
    server.stop()


@pytest.fixture(scope="module")
def login(browser: Browser, shown: Shown) -> Any:
    """The cookies of a visitor."""
    context = browser.new_context()
    context.new_page().goto(shown.server.link)
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture
def visit(browser: Browser, shown: Shown, login: Any):
    """Open a page as a visitor; what the browser complains about fails the test."""
    contexts, complaints = [], []

    def go(name: str, width: int = 1200, **options: Any) -> Any:
        window = {"width": width, "height": 900}
        contexts.append(browser.new_context(storage_state=login, viewport=window, **options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(shown.url(PAGES[name]))
        return page

    yield go
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.mark.parametrize("name", PAGES)
def test_nobody_is_shut_out_of_a_page(visit, axe: str, pictures: Path, name: str):
    """In light and dark, and at 320 px, where the page itself does not scroll sideways."""
    page = visit(name, color_scheme="dark")
    page.screenshot(path=pictures / f"web-{name}-dark.png", full_page=True)
    page.evaluate(axe)
    assert page.evaluate(SERIOUS) == []
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 320, "height": 800})
    page.screenshot(path=pictures / f"web-{name}-320.png", full_page=True)
    assert page.evaluate(SERIOUS) == []
    assert page.evaluate(WIDE) == 320


def test_a_graph_scrolls_inside_its_box_at_320_pixels(visit):
    page = visit("workflow", 320)
    box = "document.querySelector('.graph-box')"
    assert page.evaluate(f"{box}.getBoundingClientRect().right") <= 320
    assert page.evaluate(f"{box}.scrollWidth") >= page.evaluate(f"{box}.clientWidth")


def test_no_text_of_a_graph_leaves_its_node_and_none_overlap(visit):
    """The layout estimates the widths of texts; here is what the browser made of them."""
    page = visit("thread")
    outside = page.evaluate("""
      [...document.querySelectorAll('.graph .node')].filter(node => {
        const box = node.querySelector('.outline').getBoundingClientRect();
        return [...node.querySelectorAll('text')].some(text => {
          const own = text.getBoundingClientRect();
          return own.left < box.left || own.right > box.right;
        });
      }).map(node => node.textContent)
    """)
    assert outside == []
    overlapping = page.evaluate("""
      (() => {
        const all = [...document.querySelectorAll('.graph .node .outline, .graph .label text')]
          .map(each => [each.getBoundingClientRect(), each.parentElement]);
        return all.flatMap(([a, one], n) => all.slice(n + 1).filter(([b, other]) => one !== other
          && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
          .map(([, other]) => [one.textContent, other.textContent]));
      })()
    """)
    assert overlapping == []


def test_the_keyboard_goes_from_a_node_to_its_step_and_back(visit, shown: Shown):
    page = visit("thread")
    node = page.locator(".graph a[data-node=reviewer]")
    node.focus()
    tip = page.locator("#tooltip")
    assert "Judges the text with fresh eyes." in tip.inner_text()
    assert "objects: why" in tip.inner_text()
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/threads/{shown.thread}/steps/{shown.step}")
    page.go_back()
    page.wait_for_url(f"**/threads/{shown.thread}")


def test_the_pointer_may_rest_on_a_tooltip(visit):
    page = visit("workflow")
    page.locator(".graph a[data-node=writer]").hover()
    tip = page.locator("#tooltip")
    assert "Writes the text" in tip.inner_text()
    tip.hover()
    assert tip.is_visible()
    page.mouse.move(1190, 890)
    assert tip.is_hidden()


def test_the_editor_checks_while_a_person_types_and_says_so_politely(visit):
    page = visit("editor")
    text = page.locator("#text")
    text.focus()
    assert "✓ valid" in page.locator("#verdict").inner_text()
    page.keyboard.press("Control+End")
    page.keyboard.type("oops: 1\n")
    page.locator(".problems a").first.wait_for()
    assert page.evaluate("document.activeElement.id") == "text"
    page.locator("#news", has_text="error").wait_for(state="attached")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Save"
    page.locator(".problems a").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "text"
    chosen = "text.value.slice(text.selectionStart, text.selectionEnd)"
    assert (
        page.evaluate(f"(() => {{ const text = document.activeElement; return {chosen}; }})()")
        == "oops"
    )


def test_a_workflow_is_written_and_saved_with_the_keyboard_alone(visit, shown: Shown):
    page = visit("workflows")
    page.locator("#name").focus()
    page.keyboard.type("by-keyboard")
    page.keyboard.press("Enter")
    page.wait_for_url("**/editor?name=by-keyboard")
    page.locator("#text").focus()
    page.keyboard.press("Control+Home")
    page.keyboard.type("# written by hand\n")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/editor?name=by-keyboard&saved=yes")
    file = shown.project.folder / ".workflow" / "by-keyboard.yaml"
    assert file.read_text().startswith("# written by hand\n")


def test_each_page_can_be_read_without_javascript(visit):
    for name in ("workflow", "editor-broken", "thread-diff", "why"):
        page = visit(name, java_script_enabled=False)
        assert page.locator("h1").count() == 1
    page = visit("editor", java_script_enabled=False)
    page.locator("#text").fill("name: reviewed\n")
    page.get_by_role("button", name="Check").click()
    assert "error" in page.locator("#verdict").inner_text()


def test_nothing_moves_for_those_who_asked_for_that(visit):
    page = visit("thread", reduced_motion="reduce")
    assert page.evaluate("document.getAnimations().length") == 0
