"""read_file, write_file, edit_file, list_files, grep: what a model may rely on."""

import os
import shutil
import stat
import subprocess
import time

import pytest


def test_a_file_is_read_whole_or_by_lines(desk):
    (desk.work / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    assert desk.tool("read_file", path="a.txt").text.startswith("line 1\n")
    part = desk.tool("read_file", path="a.txt", start_line=3, lines=2)
    assert part.text == "[lines 3 to 4 of 10]\nline 3\nline 4\n"
    assert "has 10 lines" in desk.tool("read_file", path="a.txt", start_line=11).text


def test_of_a_long_file_the_beginning_is_given_and_how_to_go_on(desk):
    (desk.work / "long.txt").write_text("x" * 99 + "\n" + ("y" * 99 + "\n") * 5000)
    text = desk.tool("read_file", path="long.txt").text
    assert text.startswith("[lines 1 to 600 of 5001]\n") and len(text) < 61_000
    (desk.work / "one.txt").write_text("z" * 1_000_000)
    assert "998000 more characters in this line" in desk.tool("read_file", path="one.txt").text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x7fELF\0\0", "binary"),
        (b"", "[the file is empty]"),
        (b"caf\xe9\n", "replaces bytes that are not UTF-8"),
        (b"\xef\xbb\xbfbom\n", "bom"),
    ],
)
def test_what_is_no_plain_text_is_said(desk, content, words):
    (desk.work / "f").write_bytes(content)
    assert words in desk.tool("read_file", path="f").text


def test_writing_makes_folders_and_keeps_the_mode(desk):
    assert "a new file" in desk.tool("write_file", path="a/b/c.txt", content="é\n").text
    assert (desk.work / "a/b/c.txt").read_bytes() == "é\n".encode()
    script = desk.work / "run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert "it had 10 bytes" in desk.tool("write_file", path="run.sh", content="x").text
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    assert "is a folder" in desk.tool("write_file", path="a", content="x").text
    assert sorted(os.listdir(desk.work)) == ["a", "run.sh"]  # noqa: PTH208


def test_an_edit_replaces_one_piece_and_shows_a_diff(desk):
    (desk.work / "a.py").write_text("one\ntwo\nthree\n")
    answered = desk.tool("edit_file", path="a.py", old="two", new="2")
    assert (desk.work / "a.py").read_text() == "one\n2\nthree\n"
    assert "-two\n+2" in answered.text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"old": "x = 1", "new": "y"}, "occurs in a.py 2 times (lines 1, 3)"),
        ({"old": "missing", "new": "y"}, "does not occur in a.py"),
        ({"old": "\n  x = 1", "new": "y"}, "differ from it in white space alone"),
        ({"old": "", "new": "y"}, "is empty"),
        ({"old": "x = 1", "new": "x = 1"}, "the same"),
    ],
)
def test_an_edit_that_is_not_clear_changes_nothing(desk, arguments, words):
    (desk.work / "a.py").write_text("x = 1\nz\nx = 1\n")
    answered = desk.tool("edit_file", path="a.py", **arguments)
    assert answered.is_error and words in answered.text
    assert (desk.work / "a.py").read_text() == "x = 1\nz\nx = 1\n"


def test_an_edit_of_all_places_is_asked_for_by_name(desk):
    (desk.work / "a.py").write_text("x = 1\nz\nx = 1\n")
    desk.tool("edit_file", path="a.py", old="x = 1", new="y", replace_all=True)
    assert (desk.work / "a.py").read_text() == "y\nz\ny\n"


def test_an_edit_keeps_line_ends_and_bytes_that_are_no_utf8(desk):
    (desk.work / "dos.txt").write_bytes(b"one\r\ntwo\r\ncaf\xe9\r\n")
    assert not desk.tool("edit_file", path="dos.txt", old="one\ntwo", new="1\n2\n3").is_error
    assert (desk.work / "dos.txt").read_bytes() == b"1\r\n2\r\n3\r\ncaf\xe9\r\n"


def test_a_folder_is_listed_with_kinds_and_sizes(desk):
    (desk.work / "sub").mkdir()
    (desk.work / "a.txt").write_text("12345")
    (desk.work / "link").symlink_to("a.txt")
    assert desk.tool("list_files").text == "a.txt  5\nlink -> a.txt\nsub/"
    assert desk.tool("list_files", path="sub").text == "[sub is empty]"


TREE = (
    *("a.py", "b.txt", "src/a.py", "src/deep/test_x.py", "src/deep/y.md", "build/out.py"),
    *("node_modules/m/i.js", "src/keep.log", "src/drop.log", "docs/build/page.md", "tmp.pyc"),
    *("with space.py", "src/.hidden.py", "data/1.csv", "data/sub/2.csv"),
)


@pytest.fixture
def tree(desk):
    for name in TREE:
        file = desk.work / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"needle in {name}\nother line\n")
    (desk.work / ".gitignore").write_text(
        "# comment\n/build/\nnode_modules\n*.log\n!keep.log\n*.py[co]\n\\#odd\ndata/*.csv\n"
    )
    (desk.work / "src" / ".gitignore").write_text("deep/*.md\n")
    return desk


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", "a.py|with space.py|src/.hidden.py|src/a.py|src/deep/test_x.py"),
        ("src/*.py", "src/.hidden.py|src/a.py"),
        ("src/**/*.py", "src/.hidden.py|src/a.py|src/deep/test_x.py"),
        ("**/test_*.py", "src/deep/test_x.py"),
        ("?.py", "a.py|src/a.py"),
        ("[ab].{py,txt}", "a.py|b.txt|src/a.py"),
        ("*.log", "src/keep.log"),
        ("*.csv", "data/sub/2.csv"),
        ("nothing", "[no file fits; what .gitignore names is not looked at]"),
    ],
)
def test_glob_finds_what_is_not_ignored(tree, pattern, found):
    assert tree.tool("list_files", pattern=pattern).text.split("\n") == found.split("|")


def test_glob_below_a_folder_is_relative_to_it_and_still_ignores(tree):
    assert tree.tool("list_files", pattern="*.md", path="src").text.startswith("[no file")
    assert tree.tool("list_files", pattern="deep/*", path="src").text == "src/deep/test_x.py"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_what_is_ignored_is_what_git_ignores(tree):
    subprocess.run(["git", "init", "-q"], cwd=tree.work, check=True)
    (tree.work / ".git" / "info" / "exclude").write_text("docs/\n")
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=tree.work,
        capture_output=True,
        text=True,
        check=True,
    )
    names = [name.strip('"') for name in listed.stdout.split("\n") if name]
    assert sorted(tree.tool("list_files", pattern="**").text.split("\n")) == sorted(names)


def test_grep_finds_lines_with_their_place(tree):
    assert tree.tool("grep", pattern="needle in src/a", path="src").text == (
        "src/a.py:1: needle in src/a.py"
    )
    found = tree.tool("grep", pattern="^NEEDLE", ignore_case=True, glob="*.py").text
    assert len(found.split("\n")) == 5
    assert tree.tool("grep", pattern="other", path="b.txt", context=1).text == (
        "b.txt:1- needle in b.txt\nb.txt:2: other line\nb.txt:3- "
    )
    assert tree.tool("grep", pattern="a.py$", literal=True).text.startswith("[nothing found")


def test_grep_with_a_pattern_that_takes_for_ever_is_ended(desk, monkeypatch):
    from uwf_agent_builtin.tools import grep

    monkeypatch.setattr(grep, "SECONDS", 1.0)
    (desk.work / "a").write_text("a" * 60 + "b\n")
    started = time.monotonic()
    answered = desk.tool("grep", pattern="(a+)+$")
    assert answered.is_error and "simpler pattern" in answered.text
    assert time.monotonic() - started < 30


def test_grep_stops_at_enough_and_passes_over_binary_files(desk):
    (desk.work / "many").write_text("x\n" * 1000)
    (desk.work / "binary").write_bytes(b"x\0x\n")
    found = desk.tool("grep", pattern="x").text
    assert found.count("many:") == 200 and "stopped after 200" in found
    assert "binary" not in found
