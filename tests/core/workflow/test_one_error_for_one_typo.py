"""A typo is one error, and a form that cannot mean what it seems to mean is one as well."""

import pytest

from uwf_core.workflow.check import check_text

VALID = """\
version: 1
name: a
roles:
  writer:
    goal: write
    frontmatter:
      properties: {$status: {const: done}, day: {type: string, format: date}}
      required: [$status, day]
  reader:
    goal: read
    frontmatter:
      properties: {$status: {const: good}}
      required: [$status]
graph:
  $START:
    new: {role: writer, prompt: Go.}
    resume: {role: writer, prompt: Go.}
  writer:
    done: {role: reader, prompt: Read.}
  reader:
    good: {role: $END, prompt: Done.}
"""


def found(text):
    return [(each.code, each.hint) for each in check_text(text, "a.yaml").problems]


@pytest.mark.parametrize(
    ("right", "typo", "code", "hint"),
    [
        ("  $START:", "  $STRAT:", "unknown-role", "did you mean '$START'?"),
        ("    new:", "    nwe:", "unknown-key", "did you mean 'new'?"),
        ("new: {role: writer", "new: {role: writr", "unknown-role", "did you mean 'writer'?"),
        ("new: {role:", "new: {rol:", "unknown-key", "did you mean 'role'?"),
        ("  writer:\n    done", "  writr:\n    done", "unknown-role", "did you mean 'writer'?"),
        ("done: {role: reader", "done: {role: raeder", "unknown-role", "did you mean 'reader'?"),
        ("    goal: write", "    gaol: write", "unknown-key", "did you mean 'goal'?"),
        ("format: date", "format: daet", "unknown-format", "did you mean 'date'?"),
    ],
)
def test_a_typo_is_one_error(right, typo, code, hint):
    assert found(VALID) == []
    assert right in VALID
    assert found(VALID.replace(right, typo)) == [(code, hint)]


def test_two_typos_are_two_errors():
    two = VALID.replace("    new:", "    nwe:").replace("    resume:", "    resmue:")
    assert [code for code, _ in found(two)] == ["unknown-key", "unknown-key"]


def test_two_variants_of_one_status_are_an_error_with_its_place():
    twice = """\
      oneOf:
        - properties: {$status: {const: done}, day: {type: string}}
          required: [$status, day]
        - properties: {$status: {const: done}, hour: {type: string}}
          required: [$status, hour]
"""
    lines = VALID.splitlines(keepends=True)
    (problem,) = check_text("".join([*lines[:6], twice, *lines[8:]]), "a.yaml").problems
    assert (problem.code, problem.place.line) == ("duplicate-status", 10)
    assert "'done'" in problem.message


def test_variants_that_share_one_declaration_of_their_status_are_not():
    shared = """\
      properties: {$status: {const: done}, day: {type: string}, hour: {type: string}}
      required: [$status]
      anyOf: [{required: [day]}, {required: [hour]}]
"""
    lines = VALID.splitlines(keepends=True)
    assert found("".join([*lines[:6], shared, *lines[8:]])) == []


def test_what_two_roles_share_by_an_alias_is_one_error():
    shared = VALID.replace("goal: write", "goal: write\n    tools: &tools [1]").replace(
        "goal: read", "goal: read\n    tools: *tools"
    )
    assert [code for code, _ in found(shared)] == ["wrong-type"]
    assert len(found(VALID.replace("goal: write", "").replace("goal: read", ""))) == 2
