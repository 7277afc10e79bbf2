"""Every statement of a page is true: of the threads of the kit, and of random ones."""

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from tests.core.engine.test_lifecycle_machine import OUTPUTS, Life
from tests.forms import form

sys.path.insert(0, str(Path(__file__).parent))

from why_checks import Checks, kinds_of

from uwf_core.errors import UnknownIdError
from uwf_explain.explanation.html import why_html
from uwf_explain.explanation.markdown import why_markdown
from uwf_explain.explanation.page import why_page
from uwf_explain.explanation.statements import KINDS
from uwf_explain.explanation.text import why_text
from uwf_testing.exporter_threads import ExporterThreads

FORM = {"type": "object", "properties": {"how": {"type": "string"}}, "required": ["how"]}
GOOD = {
    "developer": {"$status": "done"},
    "reviewer": {"$status": "rejected", "comments": "of two\nlines"},
}


class Explained(Life):
    """Whatever people do, each thread is explained with true statements."""

    @precondition(lambda self: self.can_run())
    @rule(bad=st.sampled_from(["no frontmatter", {"$status": "nonsense"}]))
    def correct(self, bad: Any) -> None:
        """A reply is rejected before the role delivers."""
        self.play({"role": self.role, "outputs": [{"output": bad}, {"output": GOOD[self.role]}]})
        self.uwf.exec(self.thread)
        self.follow()

    @precondition(lambda self: self.can_run())
    @rule(person=st.sampled_from([None, "By the way."]))
    def ask(self, person: str | None) -> None:
        """The agent asks a person first."""
        question = {"message": "How?", "form": FORM}
        self.play({"role": self.role, "question": question, "output": GOOD[self.role]})
        self.uwf.exec(self.thread)
        self.uwf.resume(self.thread, person, answer='{"how": "so"}')
        self.follow()

    @precondition(lambda self: self.can_run())
    @rule()
    def play_by_hand(self) -> None:
        """A person plays the role, and an agent the next one: a poke would ask the person again."""
        self.uwf.exec(self.thread, agent="human")
        answer = "\n".join(f"{key}={value}" for key, value in GOOD[self.role].items())
        self.uwf.resume(self.thread, answer=answer, agent="human")
        self.follow()
        self.speak(GOOD[self.role], lambda: self.uwf.exec(self.thread))

    def follow(self) -> None:
        """The model follows a step that was delivered."""
        shown = self.uwf.show(self.thread)
        assert shown["steps"] == len(self.chain) + 1, shown
        self.chain.append(self.role)
        self.failed, self.status, self.reason = 0, shown["status"], "role"
        self.role = shown["currentRole"] or shown["suspendedRole"] or ""

    def teardown(self) -> None:
        try:
            for row in self.uwf.list():
                page = Checks(self.uwf, row["thread"]).page()
                for render in (why_text, why_markdown, why_html):
                    assert page.head in "".join(render(page))
        finally:
            super().teardown()


TestExplained = Explained.TestCase
TestExplained.settings = settings(
    max_examples=form(short=4, long=200),  # a path of 14 acts takes half a second
    stateful_step_count=14,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
assert OUTPUTS.keys() == GOOD.keys()


@pytest.fixture(scope="module")
def threads(tmp_path_factory):
    made = ExporterThreads(tmp_path_factory.mktemp("threads"))
    yield made
    made.close()


def test_what_happened_in_the_threads_of_the_kit_is_told_and_true(threads):
    pages = [Checks(threads.client, each.id).page() for each in threads.all().values()]
    never = {"fork", "denied", "granted", "limit", "unrouted", "compacted", "file", "worktree"}
    never |= {"guidance", "notice", "unanswered", "expired"}
    assert set(kinds_of(pages)) == set(KINDS) - never


def test_a_page_of_one_step_has_its_section_alone(threads):
    thread = threads.all()["rich"]
    steps = list(thread.steps())
    failed = steps[2].node["previousAttempts"][0]
    for word, number in ((steps[4].ref, 5), (failed, 3), (steps[4].replaced[0].ref, 5)):
        page = why_page(thread, word)
        assert [each.number for each in page.sections] == [number, None]
    with pytest.raises(UnknownIdError, match="is not a step of thread"):
        why_page(thread, thread.start)


def test_the_root_is_that_of_the_bundle(threads, tmp_path):
    for thread in threads.all().values():
        exported = threads.client.export_thread(thread.id, tmp_path / "thread.tar")
        assert why_page(thread).root == exported["root"]
