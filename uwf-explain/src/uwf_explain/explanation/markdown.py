"""The page as Markdown: every text of the run is in a fence or escaped; prompts are at the end."""

from collections.abc import Iterator, Sequence

from uwf_core.escape import visible
from uwf_core.markdown import fenced, inline
from uwf_explain.explanation.statements import FOR_SPECIALISTS, Statement, WhyPage, WhySection


def why_markdown(page: WhyPage) -> Iterator[str]:
    """The page as a Markdown document, in parts."""
    titles = [each.title for each in page.sections.headings]
    has_prompts = any(each.has_prompt for each in page.sections.headings)
    yield f"# {inline(page.title)}"
    yield _after(_contents([*titles, *([FOR_SPECIALISTS] if has_prompts else [])]))
    for section in page.sections:
        yield _after(f"## {inline(section.title)}")
        yield from (_after(part) for each in section.statements for part in _statement(each))
    if has_prompts:
        yield _after(f"## {FOR_SPECIALISTS}")
        yield from (_after(part) for each in page.sections for part in _prompt(each))
    yield "\n"


def _after(part: str) -> str:
    return f"\n\n{part}"


def _contents(titles: Sequence[str]) -> str:
    return "\n".join(f"{at}. {inline(each)}" for at, each in enumerate(titles, 1))


def _prompt(section: WhySection) -> Iterator[str]:
    if section.prompt:
        yield f"### {inline(section.prompt_title)}"
        for each in section.prompt:
            yield from _statement(each)


def _statement(statement: Statement) -> Iterator[str]:
    refs = " ".join(f"`{ref}`" for ref in statement.refs)
    note = "" if statement.note is None else f"; {inline(statement.note)}"
    yield f"{inline(statement.text)} [{refs}{note}]"
    for quote in (statement.quote, statement.command):
        if quote is not None:
            yield fenced(visible(quote))
