"""Workflows in the browser: the list, one with its graph and versions, two versions compared."""

import json
from xml.etree import ElementTree

import pytest
from web_site import LETTER, WebSite

CHANGED = LETTER.replace("changes: {role: writer", "changes: {role: $END").replace(
    'prompt: "Change this: {{{comments}}}"', "prompt: Done."
)


def test_the_list_is_the_document_of_the_command_and_leads_to_each(web: WebSite):
    found = web.visitor.get("/workflows.json").json()
    assert found == web.project.uwf("workflow", "list").document
    page = web.visitor.get("/workflows").text
    assert '<a href="/workflows/letter">letter</a>' in page
    assert "A letter that a person approves." in page


def test_a_workflow_is_shown_as_a_graph_and_as_a_table(web: WebSite):
    document = web.visitor.get("/workflows/letter.json").json()
    assert document["workflow"] == web.project.uwf("workflow", "show", "letter").document
    page = web.visitor.get("/workflows/letter").text
    picture = ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
    assert {each.get("data-node") for each in picture.iter("a")} == {
        "$START", "writer", "reader", "$END",
    }  # fmt: skip
    assert 'id="node-writer"' in page
    assert "changes: comments, words? (integer)" in page


def test_versions_that_ran_can_be_compared_by_meaning(web: WebSite):
    old = web.project.uwf("thread", "start", "letter", "-p", "x").document["workflow"]
    web.project.workflow("letter", CHANGED)
    new = web.project.uwf("thread", "start", "letter", "-p", "x").document["workflow"]
    page = web.visitor.get("/workflows/letter").text
    assert f'<a href="/workflows/{old}/diff/{new}">with this one</a>' in page
    answer = web.visitor.get(f"/workflows/{old}/diff/{new}")
    assert "edge retargeted <code>graph.reader.changes</code>" in answer.text
    document = web.visitor.get(f"/workflows/{old}/diff/{new}.json").json()
    assert document == web.project.uwf("workflow", "diff", old, new).document


@pytest.mark.parametrize("word", ["nothing", "41PKKC9EDSXM5"])
def test_an_unknown_workflow_is_a_404_with_the_reason(web: WebSite, word: str):
    answer = web.visitor.get(f"/workflows/{word}")
    assert answer.status_code == 404
    assert word in answer.text


def test_the_page_of_a_file_with_errors_tells_them(web: WebSite):
    web.project.workflow("letter", LETTER.replace("role: $END", "role: reeder"))
    answer = web.visitor.get("/workflows/letter")
    assert answer.status_code == 422
    assert "unknown role" in answer.text


def test_agents_and_plugins_are_those_of_the_commands(web: WebSite):
    document = web.visitor.get("/agents.json").json()
    assert document["agents"] == web.project.uwf("agent", "list").document["agents"]
    assert document["plugins"] == web.project.uwf("plugin", "list").document["plugins"]
    page = web.visitor.get("/agents").text
    assert '<a href="/agents/human">' in page
    assert "✓</span> ready" in page


def test_an_agent_is_checked_as_the_command_does(web: WebSite):
    web.project.config("agents: {gone: {command: /not/there}}\n")
    gone = web.visitor.get("/agents/gone.json").json()
    assert gone == web.project.uwf("agent", "check", "gone").document
    page = web.visitor.get("/agents/gone").text
    assert "not ready" in page and "/not/there" in page
    assert "✓</span> ready" in web.visitor.get("/agents/human").text
    other = web.visitor.get("/agents/.%2Fanother")
    assert other.status_code in (400, 404), "a command line needs a terminal"
    assert web.visitor.get("/agents/unknown").status_code == 400


def test_what_a_workflow_says_is_text(web: WebSite):
    hostile = '<img src=x onerror="alert(1)">'
    web.project.workflow("letter", LETTER.replace("goal: Write", f"goal: {json.dumps(hostile)}"))
    page = web.visitor.get("/workflows/letter").text
    assert "<img" not in page
    assert "&lt;img src=x" in page
