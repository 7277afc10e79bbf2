"""`workflow check --fix`: what is mechanical, and nothing else."""

import os
from pathlib import Path

import pytest
from tests.core.workflow.checking import check_file, fix_file

from uwf_core.errors import UsageError

OLD = """\
# for the team
name: old
roles:
  writer:   # writes
    gaol: Write.
    meta:
      type: object
      properties:
        $status:
          type: string
          enum: [done, "no"]
        # a note for the checker
        note: {type: string}
      required: [$status, note]
  checker:
    goal: Check.
    frontmatter: {properties: {$status: {enum: [ok, bad]}, why: {type: string}}}
  third:
    goal: Think.
    frontmatter:
      oneOf:
        - properties: {$status: {const: a}}
        - type: object
          properties: {$status: {const: b}, x: {}}
          required: [x]
graph:
  $START:
    nwe: {role: writer, prompt: Go.}
    resume: {role: writer, promt: "Go on."}
  writer:
    done: {role: checker, prompt: "Check: {{note}}"}
    no: {role: $END, prompt: Sorry.}
  checker:
    ok: {role: third, prompt: Fine.}
    bad: {role: writer, prompt: Again.}
  third:
    a: {role: $END, prompt: Done.}
    b: {role: $END, prompt: Done.}
"""

TODAY = """\
# for the team
version: 1
name: old
roles:
  writer:   # writes
    goal: Write.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: done}}}
        - {properties: {$status: {const: no}}}
      type: object
      properties:
        # a note for the checker
        note: {type: string}
      required: [$status, note]
  checker:
    goal: Check.
    frontmatter: {oneOf: [{required: [$status], properties: {$status: {const: ok}}}, \
{required: [$status], properties: {$status: {const: bad}}}], properties: {why: {type: string}}}
  third:
    goal: Think.
    frontmatter:
      oneOf:
        - required: [$status]
          properties: {$status: {const: a}}
        - type: object
          properties: {$status: {const: b}, x: {}}
          required: [$status, x]
graph:
  $START:
    new: {role: writer, prompt: Go.}
    resume: {role: writer, prompt: "Go on."}
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_old_file_becomes_valid_and_keeps_its_comments(tmp_path: Path, newline: str) -> None:
    file = tmp_path / "old.yaml"
    file.write_bytes(OLD.replace("\n", newline).encode())
    file.chmod(0o640)
    assert len(fix_file(file)) == 11
    text = file.read_bytes().decode()
    assert text.replace(newline, "\n").startswith(TODAY)
    assert ("\r\n" in text) is (newline == "\r\n") and text.count("\r") in (0, text.count("\n"))
    assert check_file(file).problems == []
    assert file.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["old.yaml"]
    assert fix_file(file) == []
    assert file.read_bytes().decode() == text


def test_what_the_broken_workflows_lack_is_fixed_once_and_never_made_worse(tmp_path: Path) -> None:
    broken = Path(__file__).parent / "broken"
    for source in sorted(broken.glob("*.yaml")):
        data = source.read_bytes()
        file = tmp_path / source.name
        file.write_bytes(data)
        before = check_file(file).problems
        fixes = fix_file(file)
        once, after = file.read_bytes(), check_file(file).problems
        assert (once == data) is (fixes == []), source.name
        assert len(after) <= len(before) + 3 * bool(fixes), source.name
        assert fix_file(file) == [], source.name
        assert file.read_bytes() == once


@pytest.mark.parametrize("kind", ["symbolic", "hard"])
def test_a_link_is_refused_and_its_file_unchanged(tmp_path: Path, kind: str) -> None:
    file, link = tmp_path / "old.yaml", tmp_path / "link.yaml"
    file.write_text(OLD)
    (os.symlink if kind == "symbolic" else os.link)(file, link)
    with pytest.raises(UsageError, match="link"):
        fix_file(link)
    assert file.read_text() == OLD


def test_an_enum_with_a_comment_and_a_key_that_exists_are_left_to_the_author(
    tmp_path: Path,
) -> None:
    file = tmp_path / "old.yaml"
    left = OLD.replace('enum: [done, "no"]', 'enum: [done, "no"]  # two').replace(
        "    gaol: Write.\n", "    gaol: Write.\n    goal: Write it.\n"
    )
    file.write_text(left)
    fix_file(file)
    assert [each.code for each in check_file(file).problems] == ["unknown-key", "status-enum"]
    assert "# two" in file.read_text()


def test_a_key_in_quotes_is_fixed_within_them(tmp_path: Path) -> None:
    file = tmp_path / "old.yaml"
    file.write_text(OLD.replace("gaol:", "'gaol':").replace("meta:", '"meta":'))
    fix_file(file)
    assert file.read_text().startswith(
        TODAY.partition("    goal:")[0] + "    'goal': Write.\n    \"frontmatter\":\n"
    )


def test_a_file_whose_lines_end_with_cr_alone_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "old.yaml"
    file.write_bytes(OLD.replace("\n", "\r").encode())
    assert fix_file(file) == []
    assert file.read_bytes() == OLD.replace("\n", "\r").encode()
