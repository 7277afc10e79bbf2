"""A thread that calls others, and a called thread, are explained with true statements."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.core.calling import (
    ACCEPTED,
    GOOD,
    INNER,
    OUTER,
    PLANNED,
    REFUSED,
    WRITTEN,
    child_of,
    said,
)

sys.path.insert(0, str(Path(__file__).parent))

from why_checks import Checks

from uwf_core.client import Client
from uwf_core.testing.project import Project
from uwf_explain.explanation.html import why_html
from uwf_explain.explanation.statements import WhyPage
from uwf_explain.explanation.text import why_text

TWICE = [PLANNED, WRITTEN, said("writer", "written", text="violets"), GOOD, REFUSED, ACCEPTED]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.workflow("inner", INNER)
    project.workflow("outer", OUTER)
    project.script(TWICE, by_role=True)
    return project


@pytest.fixture
def uwf(project: Project) -> Iterator[Client]:
    with project.client() as client:
        yield client


@pytest.fixture
def root(uwf: Client) -> str:
    """A thread whose second call of another one is open or ended."""
    root = uwf.start("outer", "Make a poem.")["thread"]
    uwf.exec(root, count=5)
    return root


def kinds(page: WhyPage, number: int) -> list[str]:
    [section] = [each for each in page.sections if each.number == number]
    return [each.kind for each in section.statements]


def test_a_step_that_called_another_run_says_so_and_names_its_page(
    project: Project, uwf: Client, root: str
) -> None:
    page, child = Checks(uwf, root).page(), child_of(uwf, root)
    [work] = [each for each in page.sections if each.number == 2]
    [called] = [each for each in work.statements if each.kind == "called"]
    assert called.command == f"uwf thread why {child}"
    assert "took 2 steps and ended" in called.text
    [cost] = [each for each in work.statements if each.kind == "cost"]
    assert "Cost: $1.00." in cost.text
    assert [part.quote for part in work.prompt] == ["Do this: a poem"]
    text = "\n".join(why_text(page))
    assert "done by another run" in text
    assert (
        f"uwf thread why {child}" in project.uwf("thread", "why", root, "--format", "text").stdout
    )


def test_a_called_run_names_the_run_that_called_it_each_time(uwf: Client, root: str) -> None:
    uwf.exec(root, until_done=True)
    child = child_of(uwf, root)
    page = Checks(uwf, child).page()
    [opening] = [each for each in page.sections if each.title == "The task"]
    [called] = [each for each in opening.statements if each.kind == "called"]
    assert f"step 2 (the role “work”) of the run {root} called this run" in called.text
    assert "called" not in kinds(page, 1)
    assert kinds(page, 3)[:2] == ["called", "asked"]
    assert "reopened" not in kinds(page, 3)


def test_the_prompt_of_a_called_run_has_the_part_about_its_caller(uwf: Client, root: str) -> None:
    page = Checks(uwf, child_of(uwf, root)).page()
    [first] = [each for each in page.sections if each.number == 1]
    [caller] = [each for each in first.prompt if "the run that called this one" in each.text]
    assert root in str(caller.quote)
    assert "Make a poem." in str(caller.quote)


def test_a_copy_of_a_called_run_is_not_explained_as_reopened_by_a_person(
    uwf: Client, root: str
) -> None:
    uwf.exec(root, until_done=True)
    last = uwf.steps(child_of(uwf, root))[-1]["step"]
    page = Checks(uwf, uwf.fork(last)["thread"]).page()
    assert "reopened" not in kinds(page, 3)


def test_a_cancelled_call_is_a_failed_attempt_by_another_run(uwf: Client) -> None:
    root = uwf.start("outer", "Make a poem.")["thread"]
    uwf.exec(root, count=2)
    uwf.cancel(child_of(uwf, root))
    uwf.exec(root)
    assert "(another run)" in "\n".join(why_text(Checks(uwf, root).page()))
    uwf.exec(root, until_done=True)
    Checks(uwf, root).page()


def test_the_page_of_a_call_requests_nothing(uwf: Client, root: str) -> None:
    html = "".join(why_html(Checks(uwf, root).page()))
    assert not re.search(r'(?:src|href)="(?!#|data:)', html)
    assert "<script" not in html
