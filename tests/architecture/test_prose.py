"""The texts that people read are plain English, with one word for one thing."""

import re
from pathlib import Path

import pytest
from prose import findings, paragraphs, phrases, synonyms

from generate.cli import markdown as commands_page
from sources import ROOT, project_files

PAGES = (
    *(
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "SECURITY.md",
        "docs",
        "benchmarks/README.md",
    ),
    *(f"{distribution.name}/README.md" for distribution in sorted(ROOT.glob("uwf-*"))),
    *(f"tests/{name}/README.md" for name in ("compat", "faults", "mutants", "walkthrough")),
)
SOURCES = (
    *("benchmarks", "dev.py", "noxfile.py"),
    *sorted(str(each.relative_to(ROOT)) for each in ROOT.glob("uwf-*/src/*/") if each.is_dir()),
)
"""The code whose docstrings and strings keep the rule: all of it but the tests."""

TEMPLATES = ROOT / "uwf-core/src/uwf_core/cli/templates"
GLOSSARY = ROOT / "docs" / "glossary.md"
NEEDED = """
    workflow thread step attempt trial turn session lease dispatch sealed-task call branch ledger
    role status edge reference node bundle plugin extractor judge store moderator frontmatter head
    fold event
"""


def files_of(name: str) -> list[Path]:
    """The Markdown, Python and template files at or below a path of the repository."""
    return [
        path
        for path in project_files()
        if path.is_relative_to(ROOT / name)
        and (path.suffix in {".md", ".py"} or path.is_relative_to(TEMPLATES))
    ]


@pytest.mark.parametrize("name", [*PAGES, *SOURCES])
def test_a_text_uses_no_phrase_that_readers_stumble_over(name):
    assert files_of(name), "nothing is there: has it moved?"
    assert findings(files_of(name)) == []


@pytest.mark.parametrize("phrase", phrases(), ids=lambda phrase: phrase.rejects)
def test_a_phrase_rejects_its_first_example_and_accepts_its_second(phrase):
    assert phrase.pattern.search(phrase.rejects)
    assert not phrase.pattern.search(phrase.accepts)


@pytest.mark.parametrize(
    "text",
    [
        'Today "the other is told".',
        "```\nit goes on\n```",
        "The `cure` key.",
        "> mend it",
        "<!-- mend it -->",
    ],
)
def test_code_and_quotations_may_say_anything(text):
    assert not any(
        phrase.pattern.search(paragraph.text)
        for paragraph in paragraphs(text)
        for phrase in phrases()
    )


def test_a_phrase_is_found_across_the_end_of_a_line():
    (paragraph,) = paragraphs("One wins, and the other\nis told.")
    assert any(phrase.pattern.search(paragraph.text) for phrase in phrases())


def terms() -> set[str]:
    """The words that the glossary defines."""
    text = GLOSSARY.read_text(encoding="utf-8")
    return set(re.findall(r"^(.+)\n:   ", text, re.MULTILINE))


def test_the_glossary_defines_every_term():
    needed = {term.replace("-", " ") for term in NEEDED.split()}
    assert needed - terms() == set()
    assert set(synonyms().values()) - terms() == set(), "a synonym of a word that is not defined"
    assert set(synonyms()) & terms() == set(), "both the word and its synonym are defined"


def headings() -> list[str]:
    """Every heading of a Markdown page."""
    pages = [path for name in PAGES for path in files_of(name) if path.suffix == ".md"]
    texts = (re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL) for page in pages)
    return [line for text in texts for line in text.splitlines() if re.match(r"#+ ", line)]


def test_headings_and_help_use_the_words_of_the_glossary():
    lines = [*headings(), *commands_page().splitlines()]
    found = {
        f"{synonym} (write {term}): {line.strip()}"
        for synonym, term in synonyms().items()
        for line in lines
        if re.search(rf"\b{re.escape(synonym)}s?\b", line, re.IGNORECASE)
    }
    assert found == set()
