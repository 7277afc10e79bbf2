"""The pages of `uwf web` in a real browser: a real server, real threads, and the keyboard alone."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chromium import Browser
from playwright.sync_api import Page
from test_report_page import OVERFLOWING
from web_server import LOOP, WebServer

FOCUSED = """() => {
  const e = document.activeElement;
  return [e.tagName, e.getAttribute('href') || e.getAttribute('name') || '', e.textContent.trim()];
}"""
SERIOUS = """async () => {
  const found = await axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] });
  return found.violations.filter(each => ['serious', 'critical'].includes(each.impact))
    .map(each => each.id + ': ' + each.nodes.map(node => node.html.slice(0, 120)).join(' | '));
}"""
SMALL = """() => [...document.querySelectorAll('button, .button, input:not([type=hidden]), select,'
    + 'textarea, nav a, .rows .first a, td a, summary')]
  .filter(e => e.checkVisibility()).filter(e => {
    const box = e.getBoundingClientRect();
    return box.height < 24 || box.width < 24;
  }).map(e => e.outerHTML.slice(0, 80))"""
PATHS = (
    "/", "/threads", "/threads/{thread}", "/threads/{thread}/steps/{step}", "/nodes/{step}",
    "/start", "/start/letter", "/threads/{thread}/steps/x", "/threads/{thread}/why", "/usage",
    "/threads/{thread}/usage", "/workflows", "/workflows/letter", "/agents", "/agents/human",
    "/evaluations", "/editor?name=letter",
)  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    found = WebServer(tmp_path_factory.mktemp("web"))
    yield found
    found.stop()


@pytest.fixture(scope="module")
def waiting(server: WebServer) -> dict[str, str]:
    """A thread that waits for its reader, and its first step."""
    with server.project.client() as uwf:
        task = "Write to Ada about the opening hours.\n\nWith a second paragraph."
        thread = uwf.start("letter", task)["thread"]
        uwf.exec(thread, until_done=True)
        return {"thread": thread, "step": uwf.steps(thread)[1]["step"]}


@pytest.fixture
def page(browser: Browser, server: WebServer) -> Page:
    """The page, logged in, in a window for a desk."""
    browser.page.set_viewport_size({"width": 1200, "height": 900})
    browser.page.emulate_media(media="screen", color_scheme="light")
    browser.page.goto(server.new_link())
    browser.complaints.clear()
    return browser.page


def tab_to(page: Page, fits: Callable[[list[str]], bool], most: int = 80) -> None:
    """Press Tab until what has the focus fits: its element, its target or name, its text."""
    seen = []
    for _ in range(most):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(FOCUSED))
        if fits(seen[-1]):
            return
    raise AssertionError(f"the keyboard does not reach it: {seen}")


def test_a_run_is_started_watched_sent_back_approved_and_explained_by_keyboard(
    server: WebServer, page: Page, browser: Browser
) -> None:
    press = page.keyboard.press
    server.play(700)
    tab_to(page, lambda at: at[2] == "Start a thread")
    press("Enter")
    page.wait_for_url("**/start")
    tab_to(page, lambda at: at[2] == "letter")
    press("Enter")
    page.wait_for_url("**/start/letter")
    tab_to(page, lambda at: at[1] == "prompt")
    page.keyboard.type("A letter to Ada")
    tab_to(page, lambda at: at[0] == "BUTTON")
    press("Enter")
    page.wait_for_url("**/threads/*")
    page.wait_for_selector(".state.running")
    page.wait_for_selector("#answer")  # without a new visit: the page follows the thread
    tab_to(page, lambda at: at[1] == "field.comments")
    page.keyboard.type("Name the date first.")
    tab_to(page, lambda at: at[2] == "changes")
    press("Enter")
    page.wait_for_selector("tbody tr[id^='step-3-']")
    page.wait_for_selector("#answer")
    tab_to(page, lambda at: at[2] == "approved")
    press("Enter")
    page.wait_for_selector(".state.completed")
    tab_to(page, lambda at: at[2] == "Why")
    press("Enter")
    page.wait_for_url("**/why")
    assert "approved" in page.inner_text("main")
    assert browser.complaints == []


def test_the_steps_of_a_long_thread_are_paged_by_keyboard(
    server: WebServer, page: Page, axe: str, browser: Browser
) -> None:
    server.project.workflow("loop", LOOP)
    script = server.project.folder / "loop.yaml"
    script.write_text("repeat: true\nsteps:\n  - {role: worker, output: {$status: again}}\n")
    server.project.config(f"agents: {{looping: {{use: mock, options: {{script: {script}}}}}}}\n")
    with server.project.client() as uwf:
        thread = uwf.start("loop", "Work", agent="looping")["thread"]
        uwf.exec(thread, count=120)
    page.set_viewport_size({"width": 320, "height": 900})
    page.goto(f"{server.origin}/threads/{thread}")
    tab_to(page, lambda at: at[2] == "Older steps")
    page.keyboard.press("Enter")
    page.wait_for_url("**?to=70#steps")
    assert page.locator("tbody tr[id^='step-']").count() == 50
    tab_to(page, lambda at: at[1] == "to")
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    page.wait_for_url("**?to=5**")
    page.wait_for_selector("tbody tr[id^='step-5-']")
    assert page.locator("tbody tr[id^='step-']").count() == 5
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 320
    page.evaluate(axe)
    assert page.evaluate(SERIOUS) == []
    assert page.evaluate(SMALL) == []
    assert browser.complaints == []


@pytest.mark.parametrize("width", [320, 1200])
@pytest.mark.parametrize("path", PATHS)
def test_nothing_lies_outside_of_the_window(
    server: WebServer, page: Page, waiting: dict[str, str], pictures: Path, path: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(server.origin + path.format(**waiting))
    name = path.format(thread="thread", step="step").strip("/").replace("/", "-") or "inbox"
    page.screenshot(path=pictures / f"web-{name}-{width}.png", full_page=True)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    inside = OVERFLOWING.replace(
        "!e.closest('", "!e.closest('.scroll, .graph-box, .graph-words, .skip, "
    )
    assert page.evaluate(inside) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PATHS)
def test_axe_has_no_serious_finding(
    server: WebServer, page: Page, waiting: dict[str, str], axe: str, path: str, scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(server.origin + path.format(**waiting))
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    page.evaluate(axe)
    assert page.evaluate(SERIOUS) == []
    assert page.evaluate(SMALL) == []


def test_nothing_moves_for_those_who_ask_for_calm(
    server: WebServer, page: Page, waiting: dict[str, str]
) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{server.origin}/threads/{waiting['thread']}")
    assert page.evaluate("document.getAnimations().length") == 0


def test_an_update_keeps_the_focus_and_what_somebody_types(
    server: WebServer, page: Page, waiting: dict[str, str]
) -> None:
    with server.project.client() as uwf:
        thread = uwf.fork(waiting["step"])["thread"]
        page.goto(f"{server.origin}/threads/{thread}")
        page.click("text=Poke")
        page.focus("#poke-text")
        page.keyboard.type("half a sen")
        page.evaluate("window.mine = document.activeElement")
        uwf.exec(thread, until_done=True)
        page.wait_for_selector("#answer")
        page.keyboard.type("tence")
        assert page.evaluate("window.mine === document.activeElement")
        assert page.input_value("#poke-text") == "half a sentence"


def test_one_polite_region_says_what_has_finished_and_no_turns(
    server: WebServer, page: Page, waiting: dict[str, str]
) -> None:
    server.play(600)
    with server.project.client() as uwf:
        thread = uwf.start("letter", "Quietly")["thread"]
        page.goto(f"{server.origin}/threads/{thread}")
        page.evaluate(
            "window.said = []; new MutationObserver(() => window.said.push("
            "document.getElementById('news').textContent)).observe("
            "document.getElementById('news'), {childList: true})"
        )
        uwf.exec(thread, until_done=True, background=True)
        page.wait_for_selector("#answer")
        page.wait_for_selector("#news:has-text('suspended')", state="attached")
    assert page.evaluate("document.querySelectorAll('[aria-live], [role=status]').length") == 1
    said = page.evaluate("window.said")
    assert "role writer finished: written; thread suspended" in said
    assert all("Reading the task" not in each for each in said)


def test_seven_tabs_share_one_stream(server: WebServer, browser: Browser) -> None:
    context = browser.new_context()
    streams: list[str] = []
    context.on(
        "request", lambda each: streams.append(each.url) if each.url.endswith("/stream") else None
    )
    tabs = [context.new_page() for _ in range(7)]
    tabs[0].goto(server.new_link())
    for tab in tabs:
        tab.goto(f"{server.origin}/threads")
    with server.project.client() as uwf:
        thread = uwf.start("letter", "For all tabs")["thread"]
    for tab in tabs:
        tab.wait_for_selector(f"[id='{thread}']")
    assert len(streams) <= 2  # that of the first page ended when it led on
    context.close()


def test_everything_works_without_scripts(server: WebServer, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.new_link())
    server.play(0)
    page.goto(f"{server.origin}/start/letter")
    page.fill("#start-prompt", "Without scripts")
    page.click("button.main")
    page.wait_for_url("**/threads/*")
    thread = page.url.rpartition("/")[2]
    with server.project.client() as uwf:
        uwf.wait(thread, 30)
        page.reload()
        page.click("button:has-text('approved')")
        uwf.wait(thread, 30)
        assert uwf.show(thread)["status"] == "completed"
    context.close()
