"""What the word of a task means: a folder, an archive, an installed distribution."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.eval.run.run_site import FLOW

from uwf_core.client import Client
from uwf_core.errors import UnknownIdError, UsageError
from uwf_eval.task.load import check_task, find_task, take_task

TASK = "name: {}\nworkflow: {}\nprompt: p\njudges: [{{name: t, builtin: duration}}]\n"


def write(folder: Path, name: str, workflow: str = "w") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "task.yaml").write_text(TASK.format(name, workflow), encoding="utf-8")
    return folder


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client.open(home=tmp_path / "home", cwd=tmp_path) as opened:
        yield opened


def test_a_folder_is_named_by_its_path_or_that_of_its_file(tmp_path: Path, client: Client) -> None:
    write(tmp_path / "tasks" / "a", "a")
    for word in ("tasks/a", "tasks/a/", "./tasks/a/task.yaml", str(tmp_path / "tasks/a")):
        found = find_task(word, client, tmp_path)
        assert (found.source, found.path) == ("folder", tmp_path / "tasks/a")


def test_a_run_has_its_own_copy_and_still_finds_a_workflow_beside_the_original(
    tmp_path: Path, client: Client
) -> None:
    folder = write(tmp_path / "a", "a", "../flows/w.yaml")
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "w.yaml").write_text(FLOW.replace("name: flow", "name: w"))
    (folder / "__pycache__").mkdir()
    task = take_task(find_task("a", client, tmp_path), tmp_path / "copy", client).require()
    assert task.folder == tmp_path / "copy"
    assert sorted(each.name for each in task.folder.iterdir()) == ["task.yaml"]


def test_an_installed_task_is_found_by_its_name_and_nothing_of_it_is_imported(
    tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    package = write(site / "shop_tasks", "shop")
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    info = site / "shop_tasks-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shop-tasks\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[uwf.eval_tasks]\nshop = shop_tasks\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(site)])
    found = find_task("shop", client, tmp_path)
    assert (found.source, found.place) == ("distribution", "shop")
    assert check_task(found, tmp_path / "x", client).require().name == "shop"
    assert "shop_tasks" not in sys.modules
    (package / "__init__.py").unlink()
    assert find_task("shop", client, tmp_path).path == package
    with pytest.raises(UnknownIdError, match="unknown task 'shpo'") as raised:
        find_task("shpo", client, tmp_path)
    assert raised.value.hint == "did you mean shop?"


def test_what_is_no_task_says_what_one_is(tmp_path: Path, client: Client) -> None:
    (tmp_path / "empty").mkdir()
    for word, hint in (("empty", "uwf eval new empty"), ("nothing", "a task is a folder")):
        with pytest.raises(UnknownIdError) as raised:
            find_task(word, client, tmp_path)
        assert raised.value.hint is not None and hint in raised.value.hint
    with pytest.raises(UsageError):
        find_task("  ", client, tmp_path)


def test_an_error_of_a_task_names_the_file_of_the_user_not_the_copy(
    tmp_path: Path, client: Client
) -> None:
    folder = write(tmp_path / "a", "a")
    (folder / "task.yaml").write_text(TASK.format("a", "w") + "promt: x\n")
    checked = take_task(find_task("a", client, tmp_path), tmp_path / "copy", client)
    assert [problem.file for problem in checked.problems] == [str(folder / "task.yaml")]
