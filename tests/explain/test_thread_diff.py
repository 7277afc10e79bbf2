"""`uwf thread diff` as a user sees it: text, JSON, a page, exit codes."""

import json
import re
from html.parser import HTMLParser

import pytest
from tests.core.cli.cli_kit import WORKFLOW, check_golden, on_terminal

from uwf_core.testing.project import Project

USAGE = {"inputTokens": 12_000, "outputTokens": 500, "costUsd": 0.012}
HOSTILE = "<script>alert(1)</script>\x1b[31m"


def wrote(summary, **more):
    output = {"$status": "done", "summary": summary}
    return {"role": "writer", "output": output, "body": "I wrote it.", "usage": USAGE, **more}


def rejected(why, body="No.\n\nThe second\nparagraph is wrong."):
    return {"role": "reviewer", "output": {"$status": "rejected", "why": why}, "body": body}


APPROVED = {"role": "reviewer", "output": {"$status": "approved"}, "body": "Good."}
CORRECTED = {
    "role": "reviewer",
    "outputs": [{"$status": "nonsense"}, {"$status": "rejected", "why": "a typing error"}],
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A project with a thread, and a fork of its first step that went another way."""
    project = Project(tmp_path_factory.mktemp("diff"))
    project.workflow("pair", WORKFLOW)
    project.script([wrote("one"), rejected("the names"), wrote("two"), APPROVED])
    with project.client(durable=False) as uwf:
        origin = uwf.start("pair", "Fix the total.\nIt is off by one.")["thread"]
        uwf.exec(origin, until_done=True)
        again = uwf.start("pair", "Fix the total.\nIt is off by one.")["thread"]
        uwf.exec(again, until_done=True)
        why = "the names of all functions of this file are too short for a reader"
        unpriced = wrote("three", usage={"inputTokens": 700})
        project.script(
            [wrote("one"), rejected(why, HOSTILE), unpriced, CORRECTED, wrote("four"), APPROVED]
        )
        fork = uwf.fork(uwf.steps(origin)[1]["step"])["thread"]
        uwf.exec(fork, until_done=True)
    return project, {"origin": origin, "again": again, "fork": fork}


def diff(place, a, b, *options):
    project, threads = place
    return project.uwf("thread", "diff", threads[a], threads[b], *options)


def neutral(text):
    """Without ids, references and durations, which differ from run to run and so set the widths."""
    text = re.sub(r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "T" * 26, text)
    text = re.sub(r"\b[0-9A-HJKMNP-TV-Z]{13}\b", "R" * 13, text)
    text = re.sub(r"(?<=\S) {2,}", "  ", text)
    return re.sub(r"^(time +)[^\n]*", r"\1…", text, flags=re.MULTILINE)


def test_the_text_fits_a_terminal_of_eighty_columns(place):
    project, threads = place
    shown = on_terminal(project, ["thread", "diff", threads["origin"], threads["fork"]])
    assert shown.code == 1
    sentence = next(line for line in shown.lines if line.startswith("first divergence"))
    assert max(len(line) for line in shown.lines if line != sentence) <= 80
    check_golden("thread-diff.txt", neutral("\n".join(shown.lines)))


def test_colours_are_for_a_terminal_alone(place):
    project, threads = place
    words = ["thread", "diff", threads["origin"], threads["fork"]]
    assert "\x1b[31m  - the names" in on_terminal(project, words).raw
    assert "\x1b[" not in on_terminal(project, words, env={"NO_COLOR": "1"}).raw
    assert "\x1b[" not in project.uwf(*words, "--format", "text").stdout


def test_the_exit_code_is_that_of_diff_and_errors_have_their_own(place):
    same = diff(place, "origin", "again", "--format", "text")
    assert (same.exit_code, "no divergence" in same.stdout) == (0, True)
    assert diff(place, "origin", "fork").exit_code == 1
    project, threads = place
    assert project.uwf("thread", "diff", threads["origin"], "zzzzzz").exit_code == 2
    assert project.uwf("thread", "diff", threads["origin"]).exit_code == 2


def test_the_document_has_the_documented_keys(place):
    from uwf_explain.comparison import documents

    document = diff(place, "origin", "fork").document
    assert document.keys() == documents.ThreadDiffDocument.__annotations__.keys()
    assert document["a"].keys() == documents.ComparedThread.__annotations__.keys()
    divergence = documents.DivergenceDocument
    keys = {**divergence.__annotations__, **documents.StepDifference.__annotations__}
    assert document["divergence"].keys() == keys.keys()
    for row in document["rows"]:
        assert row.keys() == documents.DiffRow.__annotations__.keys()
        for side in filter(None, (row["a"], row["b"])):
            assert side.keys() == documents.ComparedStep.__annotations__.keys()
    assert (document["commonSteps"], document["sharedSteps"]) == (1, 1)


def test_totals_contain_what_a_fork_inherits_and_unknown_stays_unknown(place):
    document = diff(place, "origin", "fork").document
    a, b, change = document["a"]["usage"], document["b"]["usage"], document["difference"]
    assert (a["inputTokens"], b["inputTokens"], change["inputTokens"]) == (24_000, 24_700, 700)
    assert (b["costUsd"], change["costUsd"], "costUsd" in b["atLeast"]) == (0.024, None, True)
    text = diff(place, "origin", "fork", "--format", "text").stdout
    assert re.search(r"cost +\$0\.0240 +≥ \$0\.0240 +–", text)
    assert document["difference"]["steps"] == 2 and document["b"]["corrections"] == 1


def test_only_differing_steps_carry_their_texts(place):
    rows = diff(place, "origin", "fork").document["rows"]
    assert rows[0]["a"]["output"] is None and rows[0]["a"]["instruction"] is None
    assert rows[1]["a"]["output"] == {"$status": "rejected", "why": "the names"}
    assert rows[1]["b"]["text"] == HOSTILE
    assert [row["a"] is None for row in rows] == [False] * 4 + [True] * 2


def test_a_quota_leaves_out_steps_and_says_how_to_see_them(place):
    shown = diff(place, "origin", "fork", "--format", "text", "--quota", "1").stdout
    assert "2 further steps differ: --quota N shows more, -o FILE.html all" in shown


class Elements(HTMLParser):
    """The names of all elements, and what links and loads point to."""

    def __init__(self):
        super().__init__()
        self.names, self.targets, self.anchors = set(), [], set()

    def handle_starttag(self, name, attributes):
        self.names.add(name)
        found = dict(attributes)
        self.targets += [found[key] for key in ("href", "src") if key in found]
        self.anchors.add(found.get("id"))


def test_the_page_is_one_static_file_that_loads_nothing(place, tmp_path):
    file = tmp_path / "diff.html"
    assert diff(place, "origin", "fork", "-o", str(file)).exit_code == 1
    page, found = file.read_text(encoding="utf-8"), Elements()
    found.feed(page)
    assert not found.names & {"script", "img", "iframe", "form", "object"}
    links = [target for target in found.targets if target != "data:,"]
    assert links and all(target.startswith("#") for target in links)
    assert {target[1:] for target in links} <= found.anchors
    assert HOSTILE not in page and "&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[31m" in page
    assert "Content-Security-Policy" in page
    for row in diff(place, "origin", "fork").document["rows"]:
        for side in filter(None, (row["a"], row["b"])):
            assert side["step"] in page


def test_a_page_that_cannot_be_written_is_an_error_of_usage(place, tmp_path):
    outcome = diff(place, "origin", "fork", "-o", str(tmp_path / "no" / "diff.html"))
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert json.loads(outcome.stderr.splitlines()[-1])["error"]["where"].endswith("diff.html")
