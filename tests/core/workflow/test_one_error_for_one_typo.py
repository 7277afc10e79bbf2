"""A typo is one error, and a form that cannot mean what it seems to mean is one as well."""

import pytest
from tests.core.workflow.checking import check_text

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


BRANCHES = """\
version: 1
name: a
roles:
  planner:
    goal: plan
    frontmatter:
      properties:
        $status: {const: planned}
        tasks: {type: array, items: {type: object, properties: {title: {type: string}}}}
      required: [$status, tasks]
  worker:
    goal: work
    tools: []
    frontmatter:
      properties: {$status: {const: done}, summary: {type: string}}
      required: [$status, summary]
  critic:
    human: true
    goal: criticise
    frontmatter:
      properties: {$status: {const: fine}, tasks: {type: array, items: {type: string}}}
      required: [$status, tasks]
graph:
  $START:
    new: {role: planner, prompt: Go.}
    resume: {role: planner, prompt: Go.}
  planner:
    planned:
      forEach: tasks
      role: worker
      prompt: "Do this: {{#title}}{{title}}{{/title}}"
      then:
        done: {role: critic, prompt: "{{#results}}{{summary}}{{/results}}"}
        $mixed: {role: planner, prompt: Again.}
        $empty: {role: $END, prompt: Nothing.}
  critic:
    fine:
      parallel:
        first: {role: worker, prompt: "Tasks: {{#tasks}}{{.}}{{/tasks}}"}
        second: {role: critic, prompt: More.}
      then:
        $mixed: {role: $END, prompt: "{{first.$status}}"}
"""


@pytest.mark.parametrize(
    ("right", "typo", "code", "hint"),
    [
        ("forEach: tasks", "forEahc: tasks", "unknown-key", "did you mean 'forEach'?"),
        ("forEach: tasks", "forEach: taks", "for-each", "did you mean 'tasks'?"),
        ("      role: worker", "      rol: worker", "unknown-key", "did you mean 'role'?"),
        ("      role: worker", "      role: wroker", "unknown-role", "did you mean 'worker'?"),
        ("      prompt: \"Do", "      promt: \"Do", "unknown-key", "did you mean 'prompt'?"),
        ("{{title}}", "{{titel}}", "template-unknown-field", "did you mean 'title'?"),
        ("then:\n        done", "thne:\n        done", "unknown-key", "did you mean 'then'?"),
        ("done: {role: critic", "doen: {role: critic", "unknown-status", "did you mean 'done'?"),
        ("done: {role: critic", "done: {role: crtic", "unknown-role", "did you mean 'critic'?"),
        ("$mixed: {role: planner", "$mixd: {role: planner", "unknown-status",
         "did you mean '$mixed'?"),
        ("$empty:", "$emty:", "unknown-status", "did you mean '$empty'?"),
        ("  planner:\n    planned", "  plannr:\n    planned", "unknown-role",
         "did you mean 'planner'?"),
        ("    planned:\n", "    plannd:\n", "unknown-status", "did you mean 'planned'?"),
        ("parallel:", "paralel:", "unknown-key", "did you mean 'parallel'?"),
        ("first: {role: worker", "first: {rol: worker", "unknown-key", "did you mean 'role'?"),
        ("first: {role: worker", "first: {role: workr", "unknown-role", "did you mean 'worker'?"),
        ("second: {role: critic", "second: {role: critc", "unknown-role",
         "did you mean 'critic'?"),
        ("then:\n        $mixed", "thn:\n        $mixed", "unknown-key", "did you mean 'then'?"),
    ],
)  # fmt: skip
def test_a_typo_in_a_fan_out_is_one_error(right, typo, code, hint):
    assert found(BRANCHES) == []
    assert BRANCHES.count(right) == 1
    assert found(BRANCHES.replace(right, typo)) == [(code, hint)]


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
    assert (problem.code, problem.line) == ("duplicate-status", 10)
    assert "'done'" in problem.message


def test_variants_that_share_one_declaration_of_their_status_are_one_error():
    shared = """\
      properties: {$status: {const: done}, day: {type: string}, hour: {type: string}}
      required: [$status]
      anyOf: [{required: [day]}, {required: [hour]}]
"""
    lines = VALID.splitlines(keepends=True)
    [(code, hint)] = found("".join([*lines[:6], shared, *lines[8:]]))
    assert (code, hint) == ("variant-keyword", "give each variant its own $status")


def test_what_two_roles_share_by_an_alias_is_one_error():
    shared = VALID.replace("goal: write", "goal: write\n    tools: &tools [1]").replace(
        "goal: read", "goal: read\n    tools: *tools"
    )
    assert [code for code, _ in found(shared)] == ["wrong-type"]
    assert len(found(VALID.replace("goal: write", "").replace("goal: read", ""))) == 2


OLDER = {
    "conditions": (
        VALID + "conditions: {}\n", "unknown-key", "write `graph.ROLE.STATUS: {role: …, prompt: …}`"
    ),
    "a graph of lists": (
        VALID.replace("    done: {role: reader", "    - {role: reader"),
        "wrong-type",
        "`STATUS: {role: …, prompt: …}`",
    ),
    "outputSchema": (
        VALID.replace("frontmatter:", "outputSchema:", 1), "unknown-key", "write `frontmatter`"
    ),
    "$START._": (
        VALID.replace("    new: {role: writer, prompt: Go.}\n    resume:", "    _:"),
        "unknown-key",
        "write `new` and `resume`",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "code", "rewrite"), OLDER.values(), ids=OLDER)
def test_what_an_older_version_had_is_one_error_with_its_rewrite(text, code, rewrite):
    [(found_code, hint)] = found(text)
    assert found_code == code
    assert rewrite in hint
