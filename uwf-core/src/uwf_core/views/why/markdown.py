"""The page as Markdown: every text of the thread is in a fence or escaped."""

import re
from collections.abc import Iterator

from uwf_core.prompt.markdown import fenced
from uwf_core.views.why.statements import Statement, WhyPage, WhySection

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&])|^(\s*(?:[-+#=]|\d+(?=[.)])))")


def why_markdown(page: WhyPage) -> str:
    """The page as a Markdown document."""
    parts = [f"# {_escaped(page.title)}", _contents(page)]
    for section in page.sections:
        parts += [f"## {_escaped(section.title)}", *_section(section)]
    return "\n\n".join(parts) + "\n"


def _contents(page: WhyPage) -> str:
    return "\n".join(f"{at}. {_escaped(each.title)}" for at, each in enumerate(page.sections, 1))


def _section(section: WhySection) -> Iterator[str]:
    for each in section.statements:
        yield from _statement(each)
    if section.prompt:
        yield "### The exact prompt"
        for each in section.prompt:
            yield from _statement(each)


def _statement(statement: Statement) -> Iterator[str]:
    refs = " ".join(f"`{ref}`" for ref in statement.refs)
    yield f"{_escaped(statement.text)} [{refs}]"
    for quote in (statement.quote, statement.command):
        if quote is not None:
            yield fenced(quote)


def _escaped(text: str) -> str:
    """A sentence on one line in which nothing is markup."""
    return _SPECIAL.sub(lambda found: "\\" + found[0].lstrip(), " ".join(text.split()))
