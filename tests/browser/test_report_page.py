"""The report's page in a real browser."""

from pathlib import Path

import pytest
from chromium import Browser
from report_kit import HOSTILE, cell, ended, not_run, rich_run, run_of, scored, step

from uwf_eval.report.html.page import page
from uwf_eval.report.summary import summarise

WIDTHS = (320, 400, 768, 1200)
PAGES = ("rich", "hostile", "empty", "many")

OVERFLOWING = """
[...document.querySelectorAll('body *')].filter(e => {
  const box = e.getBoundingClientRect();
  return box.width > 1 && box.height > 1 && !e.closest('.hidden, caption')
    && (box.right > innerWidth + 1 || box.left < -1);
}).map(e => e.tagName + '.' + e.getAttribute('class') + ' ' + e.textContent.slice(0, 40))
"""

FAINT = """
(() => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= 0.04045 ? v / 12.92
    : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = e => {
    for (; e; e = e.parentElement) {
      const found = numbers(getComputedStyle(e).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.closest('.hidden, caption, title, desc, style')) continue;
    const style = getComputedStyle(e);
    const colour = numbers(e.closest('svg') ? style.fill : style.color);
    const [a, b] = [light(colour), light(ground(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.push([e.textContent.slice(0, 30), colour]);
  }
  return faint;
})()
"""

DRAWN = """
[...document.querySelectorAll('svg[role=img]')].filter(e => e.checkVisibility()).map(e => {
  const box = e.getBoundingClientRect();
  const marks = [...e.querySelectorAll('line, rect, path, text')]
    .filter(mark => { const b = mark.getBoundingClientRect(); return b.width + b.height > 0; });
  return [e.querySelector('title').textContent, box.width, box.height, marks.length];
})
"""


def _trials(name: str):
    if name == "hostile":
        where = cell(HOSTILE * 3, case=HOSTILE, agent="x" * 90)
        return [ended(1, "failed", "k" * 80, "w" * 900, where=where),
                scored(2, 0.3, cell(HOSTILE * 3), steps=[step(HOSTILE * 4)] * 9)]  # fmt: skip
    if name == "empty":
        return [not_run(1), not_run(2)]
    return [
        scored(n, float(n * 7 % 10 > task % 10), cell(f"task-{task:03}", repeat=n))
        for task in range(70)
        for n in [task * 10 + repeat for repeat in range(1, 11)]
    ]


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    for name in PAGES:
        run, trials = rich_run() if name == "rich" else (run_of(_trials(name)), _trials(name))
        (folder / f"{name}.html").write_text(page(summarise(run, trials)), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_lies_outside_of_the_window(
    browser: Browser, pages: Path, pictures: Path, name: str, width: int
):
    browser.show(pages / f"{name}.html", width)
    if name in ("rich", "hostile") and width in (400, 1200):
        browser.picture(pictures / f"{name}-{width}.png")
    assert browser.ask("document.scrollingElement.scrollWidth") <= width
    assert browser.ask(OVERFLOWING) == []


@pytest.mark.parametrize("name", PAGES)
def test_the_page_asks_nobody_and_the_browser_has_nothing_to_complain_of(
    browser: Browser, pages: Path, name: str
):
    file = pages / f"{name}.html"
    browser.show(file, 1200)
    requested, complaints = browser.requests_and_complaints()
    assert requested == [file.as_uri()]
    assert complaints == []
    assert browser.ask("document.scripts.length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read_in_both_schemes(
    browser: Browser, pages: Path, pictures: Path, scheme: str
):
    """Contrast of at least 4.5, as WCAG 2.2 asks for (1.4.3)."""
    browser.show(pages / "rich.html", 1200, scheme)
    browser.picture(pictures / f"rich-{scheme}.png")
    assert browser.ask(FAINT) == []
    ground = browser.ask("getComputedStyle(document.body).backgroundColor")
    levels = [int(level) for level in ground[4:-1].split(",")]
    assert (max(levels) < 64) == (scheme == "dark")


@pytest.mark.parametrize("width", [400, 1200])
def test_every_plot_is_drawn(browser: Browser, pages: Path, width: int):
    browser.show(pages / "rich.html", width)
    drawn = browser.ask(DRAWN)
    assert len(drawn) > 20
    assert [each for each in drawn if each[1] < 60 or each[2] < 10 or each[3] == 0] == []


def test_every_plot_has_a_name_for_those_who_do_not_see_it(browser: Browser, pages: Path):
    browser.show(pages / "rich.html", 1200)
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    images = [each for each in nodes if each.get("role", {}).get("value") in ("image", "img")]
    assert len(images) > 20
    assert [each for each in images if not each["name"]["value"]] == []


def test_the_page_can_be_printed(browser: Browser, pages: Path, pictures: Path):
    browser.show(pages / "rich.html", 794, "dark", media="print")
    browser.picture(pictures / "rich-print.png")
    assert browser.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.pdf().startswith(b"%PDF")
