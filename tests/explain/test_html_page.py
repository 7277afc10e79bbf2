"""A page is one file that shows what it was given, and can neither run nor fetch anything."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from uwf_core.markup import join, tag, text
from uwf_explain.html_page import page

HOSTILE = '</style></pre><script src="https://example.org/x.js">alert(1)</script>\x1b[31m\u202e&'


class Elements(HTMLParser):
    """The elements, attributes and texts that a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: dict[str, str | None] = {}
        self.texts = ""

    def handle_starttag(self, name, attributes):
        self.names.append(name)
        self.attributes.update(attributes)

    def handle_data(self, data):
        self.texts += data


def seen(markup: str) -> Elements:
    found = Elements()
    found.feed(markup)
    found.close()
    return found


def test_a_hostile_text_stays_a_text_wherever_it_is_inserted():
    shown = page(HOSTILE, tag("p", HOSTILE, title=HOSTILE), tag("pre", join(HOSTILE, None, 7)))
    found = seen(shown)
    assert "script" not in found.names and shown.count("</style>") == 1
    assert found.attributes["title"].startswith("</style></pre><script")
    assert "\x1b" not in shown and "\u202e" not in shown and "\\x1b[31m\\u202e" in found.texts


def test_a_page_forbids_scripts_and_requests():
    found = seen(page("x"))
    assert found.attributes["content"] == "uwf"
    assert "default-src &#x27;none&#x27;" in page("x")
    assert found.attributes["href"] == "data:,"


@given(st.text())
def test_an_escaped_text_has_no_element_and_no_reference_of_its_own(value):
    found = seen(tag("p", value))
    assert found.names == ["p"]
    assert seen(text(value)).names == []
