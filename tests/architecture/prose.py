"""The texts that people read, without code and quotations, and the phrases that they must not use.

`python tests/architecture/prose.py FILE_OR_FOLDER…` lists what the lint finds there.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

PHRASES = Path(__file__).with_name("phrases.toml")

# Each is replaced by a placeholder of the same number of lines.
BLOCKS = re.compile(
    r"^ *(```|~~~).*?^ *\1 *$|<!--.*?-->|^>>> .*?$|^ *>.*?$", re.MULTILINE | re.DOTALL
)
INLINE = re.compile(r"``[^`]*``|`[^`]*`|\]\([^)]*\)|“[^”]*”|\"[^\"\n]*\n?[^\"\n]*\"")


class Phrase(NamedTuple):
    """One entry of phrases.toml."""

    pattern: re.Pattern[str]
    rejects: str
    accepts: str
    instead: str


class Paragraph(NamedTuple):
    """A paragraph in one line, with the number of its first line in the file."""

    line: int
    text: str


@cache
def phrases() -> tuple[Phrase, ...]:
    entries = tomllib.loads(PHRASES.read_text(encoding="utf-8"))["phrase"]
    return tuple(
        Phrase(re.compile(entry.pop("pattern"), re.IGNORECASE), **entry) for entry in entries
    )


def synonyms() -> dict[str, str]:
    """Words that headings and `--help` must not use, each with the glossary's term."""
    return tomllib.loads(PHRASES.read_text(encoding="utf-8"))["synonyms"]


def paragraphs(text: str, first_line: int = 1) -> Iterator[Paragraph]:
    """The paragraphs of a text without its code and quotations."""
    text = BLOCKS.sub(lambda match: "\n" * match[0].count("\n"), text)
    line = first_line
    for part in re.split(r"(\n[ \t]*\n)", text):
        words = INLINE.sub("…", part)
        yield Paragraph(line, " ".join(words.split()))
        line += part.count("\n")


def texts_of(path: Path) -> Iterator[Paragraph]:
    """What a person reads of a file: its Markdown, or the docstrings and strings of its code."""
    content = path.read_text(encoding="utf-8")
    if path.suffix != ".py":  # a template of code has docstrings, which are not quotations
        yield from paragraphs(content.replace('"""', ""))
        return
    inside: set[int] = set()  # the constants of f-strings, which are read as a whole
    for node in ast.walk(ast.parse(content, filename=str(path))):
        if isinstance(node, ast.JoinedStr):
            inside.update(map(id, node.values))
            parts = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
            yield from paragraphs("".join(map(str, parts)), node.lineno)
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in inside
            and not node.value.isidentifier()  # a key, not a sentence
        ):
            yield from paragraphs(node.value, node.lineno)


def findings(files: Iterable[Path]) -> list[str]:
    """Each use of a phrase: file, line, the words, and what to write instead."""
    found = dict.fromkeys(
        f"{path}:{paragraph.line}: {match[0]!r} in {_around(match)!r}; write: {phrase.instead}"
        for path in files
        for paragraph in texts_of(path)
        for phrase in phrases()
        for match in phrase.pattern.finditer(paragraph.text)
    )
    return list(found)


def _around(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - 40) : match.end() + 40]


def _files(name: str) -> Iterator[Path]:
    path = Path(name)
    yield from (
        sorted(each for each in path.rglob("*") if each.suffix in {".py", ".md"})
        if path.is_dir()
        else [path]
    )


if __name__ == "__main__":
    lines = findings(path for name in sys.argv[1:] for path in _files(name))
    print(*lines, f"{len(lines)} found", sep="\n")
