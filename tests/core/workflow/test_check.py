"""The check: every fault of a file in one run, with its place; never a crash."""

import re
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.workflow.checking import check_file, check_text, desk
from tests.core.workflow.frozen import expected, said

from uwf_core.errors import DefinitionError, UsageError

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

from generate import page

BROKEN = Path(__file__).parent / "broken"
FILES = sorted(BROKEN.glob("*.yaml"))


@cache
def _codes() -> set[str]:
    """The codes that the reference page explains: it is written from the code."""
    return set(re.findall(r"^\| `([a-z0-9-]+)` \|", page("problems"), re.MULTILINE))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_fault_of_a_broken_workflow_is_told_with_its_place(file: Path) -> None:
    checked = check_file(file)
    assert said(checked) == expected()[file.stem]
    assert checked.valid is not any(each.severity == "error" for each in checked.problems)
    for problem in checked.problems:
        assert len(problem.message.split()) > 2, problem


def test_every_broken_workflow_has_its_golden_problems() -> None:
    assert {name for name in expected() if "," not in name} == {file.stem for file in FILES}
    assert len(FILES) >= 40


def test_every_code_is_in_the_table_and_has_a_broken_workflow() -> None:
    """Those without one need a large file, and have a test of their own."""
    seen = {row.split()[2].rstrip(":") for rows in expected().values() for row in rows}
    assert seen <= _codes()
    assert _codes() - seen == {"too-large", "too-many-problems"}


def test_what_is_wrong_with_a_template_names_the_nearest_field() -> None:
    [problem] = check_file(BROKEN / "template-unknown-field.yaml").problems
    assert problem.hint == "did you mean 'summary'?"


TWO_ROLES_BEFORE_A_PROGRAM = """\
version: 1
name: a
roles:
  writer:
    goal: Write.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: done}}, required: [$status]}
        - {properties: {$status: {const: stuck}, why: {type: string}}, required: [$status, why]}
  editor:
    goal: Edit.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: done}}, required: [$status]}
        - {properties: {$status: {const: lost}, why: {type: string}}, required: [$status, why]}
  test:
    program: {argv: [make, "{{why}}"], statuses: {"0": ok}}
    frontmatter: {properties: {$status: {const: ok}}, required: [$status]}
graph:
  $START:
    new: {role: writer, prompt: Go.}
    resume: {role: editor, prompt: Go.}
  writer: {done: {role: test, prompt: Test.}, stuck: {role: $END, prompt: Stuck.}}
  editor: {done: {role: test, prompt: Test.}, lost: {role: $END, prompt: Lost.}}
  test: {ok: {role: $END, prompt: Done.}}
"""


def test_the_status_that_has_a_field_is_named_with_its_role_if_there_are_several() -> None:
    [problem] = check_text(TWO_ROLES_BEFORE_A_PROGRAM).problems
    assert problem.hint == "only the status stuck of 'writer' and lost of 'editor' has this field"


def test_an_unquoted_comma_is_explained() -> None:
    [problem] = check_file(BROKEN / "comma-in-flow-text.yaml").problems
    assert "quotes" in problem.hint


VALID = """\
# a comment first
version: 1
name: valid
x-done: &done
  properties: {$status: {const: done}}
  required: [$status]
roles:
  writer:
    goal: Write.
    procedure:
    capabilities:
    frontmatter:
      $defs: {item: {type: object, properties: {text: {type: string}}, required: [text]}}
      type: object
      oneOf:
        - *done
        - properties:
            $status: {const: more}
            items: {type: array, minItems: 1, items: {$ref: "#/$defs/item"}}
            maybe: {type: [object, "null"], properties: {text: {type: string}}, required: [text]}
          required: [$status, items, maybe]
graph:
  $START:
    new: {role: writer, prompt: Begin.}
    resume: {role: writer, prompt: Go on.}
  writer:
    done: {role: $END, prompt: "{{{_body}}} {{$status}}"}
    more:
      role: writer
      prompt: |
        {{#items}}{{text}} of {{$status}}, {{.}}{{/items}}
        {{items.0.text}}
        {{#maybe}}{{text}} {{maybe.text}}{{/maybe}}{{^maybe}}none{{/maybe}}
      location:
"""


def test_a_valid_workflow_is_completed_with_every_default() -> None:
    checked = check_text(VALID, "valid.yaml")
    assert checked.problems == []
    workflow = checked.workflow
    assert workflow is not None
    texts = {"workflow", "version", "name", "description"}
    assert set(workflow) == {
        *(*texts, "roles", "graph", "limits", "input"),
        *("workspace", "record"),
    }
    limits = ("maxSteps", "maxTokens", "maxCostUsd", "maxMinutes", "maxElapsed")
    assert workflow["limits"] == dict.fromkeys(limits)
    writer = workflow["roles"]["writer"]
    assert {key: writer[key] for key in writer if key != "frontmatter"} == {
        "description": "",
        "goal": "Write.",
        "capabilities": [],
        "procedure": "",
        "output": "",
        "human": False,
        "skills": [],
        "memory": [],
        **dict.fromkeys(
            (
                "timeout",
                "tools",
                "workflow",
                "program",
                "agent",
                "model",
                "limits",
                "reserve",
                "retry",
                "within",
                "expired",
            )
        ),
    }
    assert "$defs" not in writer["frontmatter"]
    items = writer["frontmatter"]["oneOf"][1]["properties"]["items"]
    assert items["items"]["required"] == ["text"]
    assert workflow["graph"]["writer"]["more"].get("location") is None


@pytest.mark.parametrize("nothing", ["", "~", "null"])
def test_a_schema_that_is_null_is_an_error(nothing: str) -> None:
    begin, end = VALID.index("      $defs"), VALID.index("graph:")
    text = VALID[:begin].rstrip() + f" {nothing}\n" + VALID[end:]
    problem = check_text(text, "valid.yaml").problems[0]
    assert (problem.code, problem.line) == ("wrong-type", 12)
    assert problem.message == "roles.writer.frontmatter must be a mapping, not empty"


def test_the_place_of_a_tag_is_right_in_every_style_of_text() -> None:
    """Literal, folded, quoted and plain text; braces in a comment of the header do not count."""
    styles = {
        "| # like {{x}}\n        One.\n\n          {{bad}}": (3, 11),
        ">-\n        One\n        two {{bad}}": (2, 13),
        "'One\n\n        two {{bad}}'": (2, 13),
        "One {{_body}}\n        two {{bad}}": (1, 13),
        '"a \\n \\"b {{_body}} {{bad}}"': (0, 35),
    }
    for text, (below, column) in styles.items():
        changed = VALID.replace('"{{{_body}}} {{$status}}"}', "Done.}").replace(
            "{role: $END, prompt: Done.}", f"\n      role: $END\n      prompt: {text}"
        )
        [problem] = check_text(changed, "valid.yaml").problems
        begin = changed[: changed.index("prompt: " + text)].count("\n") + 1
        assert (problem.line - begin, problem.column) == (below, column)


def test_warnings_alone_leave_a_workflow_valid() -> None:
    checked = check_text(VALID.replace("version: 1\n", ""), "valid.yaml")
    assert [each.severity for each in checked.problems] == ["warning"]
    assert checked.valid


def test_an_index_file_is_named_like_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "valid"
    folder.mkdir()
    (folder / "index.yaml").write_text(VALID)
    assert check_file(folder / "index.yaml").problems == []
    (folder / "index.yml").write_text(VALID.replace("name: valid", "name: index"))
    [problem] = check_file(folder / "index.yml").problems
    assert problem.code == "name-mismatch"


def test_includes_bring_text_yaml_and_json_into_their_place(tmp_path: Path) -> None:
    (tmp_path / "parts" / "deep").mkdir(parents=True)
    (tmp_path / "parts" / "goal.md").write_text("Write {{{it}}}.\n")
    (tmp_path / "parts" / "role.yaml").write_text(
        "goal: !include goal.md\nfrontmatter: !include deep/schema.json\n"
    )
    (tmp_path / "parts" / "deep" / "schema.json").write_text(
        '{"properties": {"$status": {"const": "done"}}, "required": ["$status"]}'
    )
    (tmp_path / "includes.yaml").write_text("""
version: 1
name: includes
roles: {writer: !include parts/role.yaml}
graph:
  $START:
    new: {role: writer, prompt: !include parts/goal.md}
    resume: {role: writer, prompt: Go on.}
  writer: {done: {role: $END, prompt: Done.}}
""")
    checked = check_file(tmp_path / "includes.yaml")
    assert [(Path(each.file).name, each.code) for each in checked.problems] == [
        ("goal.md", "template-at-start")
    ]
    (tmp_path / "parts" / "goal.md").write_text("Write.\n")
    workflow = check_file(tmp_path / "includes.yaml").workflow
    assert workflow is not None
    assert workflow["roles"]["writer"]["goal"] == "Write.\n"
    assert workflow["roles"]["writer"]["frontmatter"]["required"] == ["$status"]


def test_an_included_file_never_reaches_above_its_own_folder(tmp_path: Path) -> None:
    """`b/role.yaml` may not include what only the workflow beside `b` may."""
    (tmp_path / "b").mkdir()
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "b" / "role.yaml").write_text("goal: !include ../secret.md\n")
    (tmp_path / "b" / "link").symlink_to(tmp_path)
    (tmp_path / "b" / "via.yaml").write_text("goal: !include link/secret.md\n")
    for name in ("role", "via"):
        text = f"{VALID}x-more: !include b/{name}.yaml\n"
        [problem] = check_text(text, tmp_path / "valid.yaml").problems
        assert problem.code == "include-outside"
        assert problem.file == str(tmp_path / "b" / f"{name}.yaml")


def test_included_text_cannot_grow_without_bound(tmp_path: Path) -> None:
    (tmp_path / "big.md").write_text("x" * 900_000)
    includes = "\n".join(f"  - !include big.md # {n}" for n in range(20))
    checked = check_text(VALID + f"x-big:\n{includes}\n", tmp_path / "valid.yaml")
    assert [each.code for each in checked.problems] == ["too-large"]


def test_includes_that_double_each_other_are_refused_at_once(tmp_path: Path) -> None:
    for n in range(25):
        (tmp_path / f"f{n}.yaml").write_text(f"[!include f{n + 1}.yaml, !include f{n + 1}.yaml]")
    (tmp_path / "f25.yaml").write_text("[x]")
    checked = check_text(VALID + "x-big: !include f0.yaml\n", tmp_path / "valid.yaml")
    assert [each.code for each in checked.problems] == ["too-many-nodes"]


def test_a_file_beyond_a_megabyte_is_refused(tmp_path: Path) -> None:
    (tmp_path / "valid.yaml").write_text(VALID + "# " + "x" * 1_000_000)
    [problem] = check_file(tmp_path / "valid.yaml").problems
    assert problem.code == "too-large"


def test_a_missing_file_a_folder_and_a_pipe_are_one_clear_error(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.yaml")
    for name in ("none.yaml", ".", "pipe.yaml"):
        with pytest.raises(UsageError) as error:
            check_file(tmp_path / name)
        assert error.value.where == str(tmp_path / name)


def test_a_workflow_that_is_added_raises_all_problems_at_once() -> None:
    with pytest.raises(DefinitionError) as error:
        desk().add_workflow(BROKEN / "many-faults-at-once.yaml")
    assert len(error.value.problems) == 9
    assert "8 more" in error.value.message


STARTER = desk().new_workflow("valid")["valid"]
WORDS = re.compile(r"[\w$.-]+|[^\w\s]")


@st.composite
def _mutated(draw: st.DrawFn) -> str:
    """A valid workflow with a few words removed, doubled or replaced by others."""
    text = draw(st.sampled_from([VALID, STARTER]))
    for _ in range(draw(st.integers(1, 4))):
        spans = [match.span() for match in WORDS.finditer(text)]
        start, end = draw(st.sampled_from(spans))
        words = [
            "",
            "null",
            "12",
            "[]",
            "{}",
            "true",
            "$END",
            "_body",
            "{{#x}}",
            "*done",
            "!include x",
        ]
        other = draw(st.sampled_from([*words, "a b", "-", ".inf", text[start:end] * 2, "oneOf"]))
        text = text[:start] + other + text[end:]
    return text


@given(_mutated())
@settings(max_examples=70, deadline=None)
def test_a_damaged_workflow_is_checked_without_a_crash(text: str) -> None:
    """And if it is valid after all, the store takes it."""
    checked = check_text(text, "valid.yaml")
    lines = text.count("\n") + 1
    for problem in checked.problems:
        assert problem.code in _codes()
        assert 1 <= problem.line <= lines + 1
    assert checked.valid is not any(each.severity == "error" for each in checked.problems)
    if checked.valid:
        file = desk().folder / "valid.yaml"
        file.write_text(text)
        desk().add_workflow(file)
