"""The page as one static HTML file: nothing in it runs, and it requests nothing."""

from collections.abc import Iterable, Iterator

from uwf_core.markup import Markup, join, tag
from uwf_explain.explanation.sections import Heading
from uwf_explain.explanation.statements import Statement, WhyPage, WhySection
from uwf_explain.html_page import page_parts

_LONG = 1_500
"""A longer quote is folded."""

_STYLE = """\
body { max-width: 56rem; }
nav ol { columns: 18rem; padding-left: 1.4rem; margin: .4rem 0; }
section { border-top: 1px solid var(--line); margin-top: 1.6rem; }
section p { margin: .7rem 0 .3rem; }
.ref { white-space: nowrap; font-size: .75em; color: var(--soft); }
.ref a { color: inherit; }
p.decided, p.route { font-weight: 600; }
p.attempt, p.correction, p.cancelled, p.limit { color: var(--bad); }
p.field { margin-left: 1.2rem; }
details { margin: .5rem 0; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media print { details::details-content { content-visibility: visible; block-size: auto; } }
"""


def why_html(value: WhyPage) -> Iterator[str]:
    """The page as an HTML document, in parts."""
    headings = value.sections.headings
    refs = _References(each.step for each in headings if each.step is not None)
    contents = tag("nav", tag("ol", *map(_link, headings)), aria_label="Contents")
    sections = (_section(each, refs) for each in value.sections)
    yield from page_parts(value.title, tag("h1", value.title), contents, sections, _STYLE)


class _References(dict[str, Markup]):
    """The markup of each reference, made once: a link to its step, if the page has that."""

    def __init__(self, steps: Iterable[str]) -> None:
        super().__init__()
        self._steps = frozenset(steps)

    def __missing__(self, ref: str) -> Markup:
        shown = tag("a", ref, href=f"#{ref}") if ref in self._steps else ref
        self[ref] = join(" ", tag("code", shown, class_="ref"))
        return self[ref]


def _anchor(section: Heading | WhySection) -> str:
    return section.step or section.title.lower().replace(" ", "-")


def _link(heading: Heading) -> Markup:
    return tag("li", tag("a", heading.title, href=f"#{_anchor(heading)}"))


def _section(section: WhySection, refs: _References) -> Markup:
    parts = [part for each in section.statements for part in _statement(each, refs)]
    if section.prompt:
        title = section.prompt_title
        summary = (
            f"For specialists: {title[:1].lower()}{title[1:]}, in {len(section.prompt)} parts with "
            "their origins"
        )
        inside = [part for each in section.prompt for part in _statement(each, refs)]
        parts.append(tag("details", tag("summary", summary), *inside, class_="prompt"))
    return tag("section", tag("h2", section.title), *parts, id=_anchor(section))


def _statement(statement: Statement, refs: _References) -> Iterator[Markup]:
    shown = map(refs.__getitem__, statement.refs)
    note = () if statement.note is None else (tag("span", f" {statement.note}", class_="ref"),)
    yield tag("p", statement.text, *shown, *note, class_=statement.kind)
    if statement.quote is not None:
        yield _quote(statement.quote)
    if statement.command is not None:
        yield tag("pre", statement.command)


def _quote(quote: str) -> Markup:
    if len(quote) <= _LONG:
        return tag("pre", quote)
    summary = f"Show the text ({len(quote):,} characters)"
    return tag("details", tag("summary", summary), tag("pre", quote))
