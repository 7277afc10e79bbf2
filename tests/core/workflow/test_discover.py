"""Which workflow a word means."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from uwf_core.errors import ConfigError, UnknownIdError, UsageError
from uwf_core.ids import Ref
from uwf_core.workflow.discover import ResolveContext, Resolved, local_workflows, resolve

WORKFLOW = Ref("0123456789ABC")
TEXT_NODE = Ref("ZZZZZZZZZZZZZ")


class Names:
    """A registry with one published workflow under the names given, and a node that is none."""

    def __init__(self, *names: str) -> None:
        self._names = dict.fromkeys(names, WORKFLOW)

    def names(self) -> dict[str, Ref]:
        return self._names

    def holds(self, ref: Ref) -> bool:
        return ref in (WORKFLOW, TEXT_NODE)

    def is_workflow(self, ref: Ref) -> bool:
        return ref == WORKFLOW


Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Makes an (empty) file below the project, with its folders."""
    (tmp_path / ".git").mkdir()

    def write(name: str) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        return file

    return write


def untrusted(_folder: str) -> bool:
    return False


def _resolve(word: str, cwd: Path, *names: str, trusted: bool = False) -> Resolved:
    return resolve(word, ResolveContext(str(cwd), Names(*names), lambda _: trusted))


def _found(cwd: Path) -> list[tuple[str, str]]:
    return [
        (each.name, str(Path(each.file).relative_to(cwd)))
        for each in local_workflows(str(cwd), untrusted)
    ]


def test_the_first_file_of_a_name_wins_in_the_order_promised(tmp_path: Path, write: Write) -> None:
    order = ["a.yaml", "a.yml", "a/index.yaml", "a/index.yml"]
    order = [f"{folder}/{name}" for folder in (".workflow", ".workflows") for name in order]
    for name in reversed(order):
        write(name)
    for name in order:
        assert _found(tmp_path) == [("a", name)]
        (tmp_path / name).unlink()
    assert _found(tmp_path) == []


def test_both_folders_are_read(tmp_path: Path, write: Write) -> None:
    write(".workflow/a.yaml")
    write(".workflows/b.yaml")
    assert [name for name, _ in _found(tmp_path)] == ["a", "b"]


def test_what_is_not_named_like_a_workflow_is_passed_over(tmp_path: Path, write: Write) -> None:
    for name in (".hidden.yaml", "a b.yaml", "readme.md", "parts/goal.md", "x.json", "a.b.yaml"):
        write(f".workflow/{name}")
    assert _found(tmp_path) == [("a.b", ".workflow/a.b.yaml")]


def test_the_nearest_folder_with_any_workflow_hides_those_above(
    tmp_path: Path, write: Write
) -> None:
    write(".workflow/top.yaml")
    write("sub/.workflow/near.yaml")
    write("sub/deep/.workflow/readme.md")
    found = local_workflows(str(tmp_path / "sub" / "deep"), untrusted)
    assert [each.name for each in found] == ["near"]
    with pytest.raises(UnknownIdError):
        _resolve("top", tmp_path / "sub" / "deep")


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_the_climb_ends_after_a_folder_that_holds_git(
    tmp_path: Path, write: Write, kind: str
) -> None:
    write(".workflow/outer.yaml")
    write("repo/src/main.py")
    git = tmp_path / "repo" / ".git"
    git.mkdir() if kind == "folder" else git.write_text("gitdir: elsewhere\n")
    assert local_workflows(str(tmp_path / "repo" / "src"), untrusted) == []
    write("repo/.workflow/inner.yaml")
    assert [each.name for each in local_workflows(str(tmp_path / "repo" / "src"), untrusted)] == [
        "inner"
    ]


def test_listing_and_starting_see_the_same(tmp_path: Path, write: Write) -> None:
    write(".workflow/a.yaml")
    write(".workflow/b/index.yml")
    for found in local_workflows(str(tmp_path), untrusted):
        assert _resolve(found.name, tmp_path).file == found.file


def test_a_reference_comes_before_a_name(tmp_path: Path, write: Write) -> None:
    write(f".workflow/{WORKFLOW}.yaml")
    found = _resolve(WORKFLOW, tmp_path)
    assert (found.source, found.ref, found.file) == ("reference", WORKFLOW, None)


def test_a_reference_to_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownIdError, match="is not a workflow"):
        _resolve(TEXT_NODE, tmp_path)


def test_a_reference_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(UnknownIdError, match="not a known reference"):
        _resolve("7777777777777", tmp_path)


def test_a_path_comes_before_names(tmp_path: Path, write: Write) -> None:
    file = write("a.yaml")
    write(".workflow/a.yaml")
    found = _resolve("a.yaml", tmp_path, "a.yaml")
    assert (found.source, found.file, found.name) == ("path", str(file), "a")
    folder = write("flows/b/index.yaml").parent
    found = _resolve(f"{folder}/", tmp_path)
    assert (found.source, found.file, found.name) == ("path", f"{folder}/index.yaml", "b")


def test_a_path_that_is_not_there_names_the_nearest_file(tmp_path: Path, write: Write) -> None:
    write("flows/review.yaml")
    with pytest.raises(UnknownIdError) as error:
        _resolve("flows/reveiw.yaml", tmp_path)
    assert error.value.hint == "did you mean review?"
    assert error.value.where == str(tmp_path / "flows/reveiw.yaml")


def test_local_comes_before_config_before_registry(tmp_path: Path, write: Write) -> None:
    local = write(".workflow/a.yaml")
    configured = [write(f"more/{name}.yaml") for name in "ab"]

    def source(word: str) -> tuple[str, str | None]:
        context = ResolveContext(
            str(tmp_path), Names("a", "b", "c"), lambda _: True, (str(tmp_path / "more"),)
        )
        found = resolve(word, context)
        return found.source, found.file

    assert source("a") == ("local", str(local))
    assert source("b") == ("config", str(configured[1]))
    assert source("c") == ("registry", None)


def test_a_local_workflow_never_shadows_the_registry_in_a_folder_that_is_not_trusted(
    tmp_path: Path, write: Write
) -> None:
    file = write(".workflow/a.yaml")
    found = _resolve("a", tmp_path, "a")
    assert (found.source, found.ref) == ("registry", WORKFLOW)
    assert str(file) in found.notices[0]
    assert f"uwf config trust {tmp_path}" in found.notices[0]
    assert _resolve(".workflow/a.yaml", tmp_path, "a").file == str(file)
    assert _resolve("a", tmp_path, "a", trusted=True).file == str(file)
    assert _resolve("a", tmp_path).file == str(file)


def test_trust_is_asked_for_the_folder_that_holds_the_workflows(
    tmp_path: Path, write: Write
) -> None:
    write(".workflow/a.yaml")
    (tmp_path / "sub").mkdir()
    asked: list[str] = []
    context = ResolveContext(
        str(tmp_path / "sub"), Names("a"), lambda folder: bool(asked.append(folder))
    )
    resolve("a", context)
    assert asked == [str(tmp_path)]


def test_workflow_paths_of_an_untrusted_project_do_not_shadow_either(
    tmp_path: Path, write: Write
) -> None:
    write("more/a.yaml")
    paths = (str(tmp_path / "more"),)
    for trusted, source in ((False, "registry"), (True, "config")):
        context = ResolveContext(str(tmp_path), Names("a"), lambda _: False, paths, trusted)
        assert resolve("a", context).source == source


def test_every_answer_says_where_the_workflow_came_from(tmp_path: Path, write: Write) -> None:
    file = write(".workflow/a.yaml")
    assert str(file) in _resolve("a", tmp_path).notices[-1]
    assert "registry" in _resolve("b", tmp_path, "b").notices[-1]


def test_an_unknown_name_has_near_misses_and_the_places_looked_at(
    tmp_path: Path, write: Write
) -> None:
    write(".workflow/fix-bug.yaml")
    with pytest.raises(UnknownIdError) as error:
        _resolve("fix-bgu", tmp_path, "fix-bugs")
    assert error.value.hint is not None
    assert "fix-bug" in error.value.hint
    assert "fix-bugs" in error.value.hint
    assert str(tmp_path / ".workflow") in error.value.message
    assert "registry" in error.value.message


@pytest.mark.parametrize("word", ["", "  ", "\n"])
def test_a_blank_word_is_an_error(tmp_path: Path, word: str) -> None:
    with pytest.raises(UsageError, match="blank"):
        _resolve(word, tmp_path)


def test_discovery_loads_nothing_heavy() -> None:
    import subprocess
    import sys

    heavy = "pydantic jsonschema yaml pathlib difflib asyncio importlib.metadata"
    program = (
        "import sys; before = set(sys.modules)\n"
        "import uwf_core.workflow.discover\n"
        "import uwf_core.workflow.definition\n"
        f"print(sorted(set({heavy!r}.split()) & (set(sys.modules) - before)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


@pytest.fixture
def somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on, the user is not the one that made the files of the test."""
    user = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: user + 1)
    monkeypatch.delenv("SUDO_UID", raising=False)


@pytest.mark.usefixtures("somebody_else")
@pytest.mark.parametrize("folder", [".workflow", ".workflows"])
def test_workflows_of_another_user_are_refused_until_the_folder_is_trusted(
    tmp_path: Path, write: Write, folder: str
) -> None:
    """Also those further up: everybody can make a `.workflow` in `/tmp`."""
    write(f"{folder}/a.yaml")
    below = tmp_path / "deep" / "down"
    below.mkdir(parents=True)
    for name in ("a", "other"):
        with pytest.raises(ConfigError, match="another user") as caught:
            _resolve(name, below, "a", "other")
        assert caught.value.where == str(tmp_path / folder)
        assert f"uwf config trust {tmp_path}" in (caught.value.hint or "")
    with pytest.raises(ConfigError):
        local_workflows(str(below), untrusted)
    assert _resolve("a", below, trusted=True).source == "local"
    assert _resolve(f"../../{folder}/a.yaml", below).source == "path"


@pytest.mark.usefixtures("somebody_else")
def test_root_by_sudo_takes_what_belongs_to_the_caller_of_sudo(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(".workflow/a.yaml")
    owner = str(tmp_path.stat().st_uid)
    monkeypatch.setenv("SUDO_UID", owner)
    with pytest.raises(ConfigError):
        _resolve("a", tmp_path)  # who is not root could set that variable for any owner
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert _resolve("a", tmp_path).source == "local"


def test_a_link_to_workflows_of_another_user_is_no_way_around(tmp_path: Path, write: Write) -> None:
    write(".workflow")
    (tmp_path / ".workflow").unlink()
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a.yaml").touch()
    (tmp_path / ".workflow").symlink_to("there")
    assert _resolve("a", tmp_path).source == "local"
    if os.geteuid() == 0:
        os.chown(tmp_path / "there", 12345, -1)
        with pytest.raises(ConfigError):
            _resolve("a", tmp_path)
        os.chown(tmp_path / "there", 0, -1)
        os.chown(tmp_path / ".workflow", 12345, -1, follow_symlinks=False)
        with pytest.raises(ConfigError):
            _resolve("a", tmp_path)
