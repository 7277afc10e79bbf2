"""The page as Markdown: every text of the run is in a fence or escaped; prompts are at the end."""

from collections.abc import Iterator

from uwf_core.escape import visible
from uwf_core.markdown import fenced, inline
from uwf_explain.explanation.statements import FOR_SPECIALISTS, Statement, WhyPage, WhySection


def why_markdown(page: WhyPage) -> str:
    """The page as a Markdown document."""
    parts = [f"# {inline(page.title)}", _contents(page)]
    for section in page.sections:
        parts.append(f"## {inline(section.title)}")
        parts += [part for each in section.statements for part in _statement(each)]
    if any(each.prompt for each in page.sections):
        parts.append(f"## {FOR_SPECIALISTS}")
        parts += [part for each in page.sections for part in _prompt(each)]
    return "\n\n".join(parts) + "\n"


def _contents(page: WhyPage) -> str:
    titles = [each.title for each in page.sections]
    if any(each.prompt for each in page.sections):
        titles.append(FOR_SPECIALISTS)
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
