"""The page as short plain text: long texts are cut; the parts of prompts are named at the end."""

from collections.abc import Iterator

from uwf_explain.explanation.statements import FOR_SPECIALISTS, Statement, WhyPage, WhySection

_LINES = 8
_CHARACTERS = 600


def why_text(page: WhyPage) -> Iterator[str]:
    """The lines of the page as text; they are not wrapped, and a long quote is one of them."""
    yield page.title
    for each in page.sections:
        yield from _section(each)
    if any(each.has_prompt for each in page.sections.headings):
        yield from ("", FOR_SPECIALISTS, "")
    for each in page.sections:
        if each.prompt:
            yield from _prompt(each)


def _section(section: WhySection) -> Iterator[str]:
    yield from ("", section.title, "")
    for each in section.statements:
        yield from _statement(each)


def _prompt(section: WhySection) -> Iterator[str]:
    yield f"- {section.prompt_title} has {len(section.prompt)} parts:"
    for each in section.prompt:
        origins = each.refs[:-1]  # the last one is the prompt
        yield f"    {each.text.rstrip(':.')}{f' [{chr(32).join(origins)}]' if origins else ''}"
    yield f"    next: uwf step read {section.step} --prompt"


def _statement(statement: Statement) -> Iterator[str]:
    yield f"- {_with_refs(statement)}"
    if statement.quote is not None:
        yield from (f"    | {line}" for line in _cut(statement.quote, statement.refs[0]))
    if statement.command is not None:
        yield from (f"    {line}" for line in statement.command.splitlines())


def _with_refs(statement: Statement) -> str:
    text, colon, _ = statement.text.rpartition(":")
    ends = bool(colon) and statement.text.endswith(":")
    note = "" if statement.note is None else f"; {statement.note}"
    shown = f"[{' '.join(statement.refs)}{note}]"
    return f"{text} {shown}:" if ends else f"{statement.text} {shown}"


def _cut(quote: str, ref: str) -> Iterator[str]:
    """The first lines of a quote; the command that prints all of it."""
    lines = quote.strip("\n").split("\n")
    shown = "\n".join(lines[:_LINES])[:_CHARACTERS].split("\n")
    yield from shown
    if shown != lines:
        yield f"… (the whole text: uwf cas get {ref})"
