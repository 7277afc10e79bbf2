"""The page as Markdown: every text of the run is in a fence or escaped; prompts are at the end."""

import re
from collections.abc import Iterator

from uwf_core.escape import visible
from uwf_core.views.why.statements import FOR_SPECIALISTS, Statement, WhyPage, WhySection
from uwf_core.workflow.markdown import fenced

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&])|^(\s*(?:[-+#=]|\d+(?=[.)])))")


def why_markdown(page: WhyPage) -> str:
    """The page as a Markdown document."""
    parts = [f"# {_escaped(page.title)}", _contents(page)]
    for section in page.sections:
        parts.append(f"## {_escaped(section.title)}")
        parts += [part for each in section.statements for part in _statement(each)]
    if any(each.prompt for each in page.sections):
        parts.append(f"## {FOR_SPECIALISTS}")
        parts += [part for each in page.sections for part in _prompt(each)]
    return "\n\n".join(parts) + "\n"


def _contents(page: WhyPage) -> str:
    titles = [each.title for each in page.sections]
    if any(each.prompt for each in page.sections):
        titles.append(FOR_SPECIALISTS)
    return "\n".join(f"{at}. {_escaped(each)}" for at, each in enumerate(titles, 1))


def _prompt(section: WhySection) -> Iterator[str]:
    if section.prompt:
        yield f"### {_escaped(section.prompt_title)}"
        for each in section.prompt:
            yield from _statement(each)


def _statement(statement: Statement) -> Iterator[str]:
    refs = " ".join(f"`{ref}`" for ref in statement.refs)
    note = "" if statement.note is None else f"; {_escaped(statement.note)}"
    yield f"{_escaped(statement.text)} [{refs}{note}]"
    for quote in (statement.quote, statement.command):
        if quote is not None:
            yield fenced(visible(quote))


def _escaped(text: str) -> str:
    """A sentence on one line in which nothing is markup."""
    return _SPECIAL.sub(lambda found: "\\" + found[0].lstrip(), " ".join(visible(text).split()))
