"""`workflow check --fix`: what is mechanical, and nothing else."""

import gc
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.core.workflow.checking import check_file, fix_file

from uwf_core.errors import UsageError
from uwf_core.workflow import fix

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


def _ring(roles: int) -> str:
    """Each role leads to the next one; nothing leads out, and the version is missing."""
    names = [f"r{number}" for number in range(roles)]
    schema = "{properties: {$status: {const: done}}, required: [$status]}"
    lines = ["name: ring", "roles:"]
    lines += [f"  {name}: {{goal: Do., frontmatter: {schema}}}" for name in names]
    first = "{role: r0, prompt: Go.}"
    lines += ["graph:", f"  $START: {{new: {first}, resume: {first}}}"]
    after = zip(names, [*names[1:], names[0]], strict=True)
    lines += [f"  {name}: {{done: {{role: {to}, prompt: Next.}}}}" for name, to in after]
    return "\n".join(lines) + "\n"


def _statuses(roles: int, count: int) -> str:
    """Roles of many statuses, each of which is an enum, and the last one an end."""
    names, statuses = [f"r{number}" for number in range(roles)], [f"s{n}" for n in range(count)]
    schema = f"{{properties: {{$status: {{enum: [{', '.join(statuses)}]}}}}}}"
    lines = ["version: 1", "name: ring", "roles:"]
    lines += [f"  {name}: {{goal: Do., frontmatter: {schema}}}" for name in names]
    first = "{role: r0, prompt: Go.}"
    lines += ["graph:", f"  $START: {{new: {first}, resume: {first}}}"]
    for name, to in zip(names, [*names[1:], "$END"], strict=True):
        edges = (f"{status}: {{role: {to}, prompt: Next.}}" for status in statuses)
        lines.append(f"  {name}: {{{', '.join(edges)}}}")
    return "\n".join(lines) + "\n"


def _calls_of_fix(file: Path, text: str) -> int:
    """How many calls of Python and of builtin functions a fix takes."""
    file.write_text(text, encoding="utf-8")
    calls = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    gc.disable()  # what others left behind is not freed within our count
    sys.setprofile(count)
    try:
        fix_file(file)
    finally:
        sys.setprofile(None)
        gc.enable()
    return calls


CALLS_OF_A_CHECK = 2_000
"""For a role with one status. 3,000 such roles take about a second."""


def test_a_fix_takes_two_checks_however_many_roles_it_is_for(tmp_path: Path) -> None:
    file = tmp_path / "ring.yaml"
    few, many = [_calls_of_fix(file, _ring(roles)) for roles in (20, 40, 60)][1:]
    print(f"{(many - few) / 20:.0f} calls for a role")
    assert many - few <= 20 * 2 * CALLS_OF_A_CHECK
    few, many = [_calls_of_fix(file, _statuses(roles, 20)) for roles in (2, 4, 6)][1:]
    print(f"{(many - few) / 2:.0f} calls for a role of 20 statuses")
    assert many - few <= 2 * 2 * 20 * CALLS_OF_A_CHECK


def test_a_file_of_many_values_is_checked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever could be fixed in it: another check would take as long again."""
    file = tmp_path / "ring.yaml"
    monkeypatch.setattr(fix, "MAX_VALUES", 2_000)
    file.write_text(_ring(200), encoding="utf-8")
    assert fix_file(file) == []
    assert file.read_text(encoding="utf-8") == _ring(200)
    file.write_text(_ring(50), encoding="utf-8")
    assert [each.code for each in fix_file(file)] == ["version-missing"]
