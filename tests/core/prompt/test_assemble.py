"""What an agent gets to read, in which order, and that no step can pose as another part of it.

The golden files are prompts as agents get them. After a wanted change: `UWF_GOLDEN=write pytest`.
"""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uwf_core.api.agent import PromptParts
from uwf_core.ids import Ref
from uwf_core.prompt.assemble import HISTORY_CHARACTERS, newest_within, prompt_parts, prompt_text
from uwf_core.prompt.markdown import step_markdown
from uwf_core.workflow.definition import Role

GOLDEN = Path(__file__).parent / "golden"
CALM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

REVIEW: dict[str, Any] = {
    "type": "object",
    "oneOf": [
        {"properties": {"$status": {"const": "approved"}}, "required": ["$status"]},
        {
            "properties": {
                "$status": {"const": "rejected"},
                "severity": {"enum": ["low", "high"], "description": "How bad it is."},
                "findings": {
                    "type": "array",
                    "minItems": 2,
                    "items": {
                        "type": "object",
                        "properties": {
                            "file": {"type": "string", "examples": ["src/app.py"]},
                            "line": {"type": "integer", "minimum": 1},
                            "advice": {"type": ["string", "null"], "default": None},
                        },
                        "required": ["file"],
                    },
                },
                "score": {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5},
                "due": {"type": "string", "format": "date"},
                "commit": {"type": "string", "pattern": "^[0-9a-f]{7}$", "examples": ["0123456"]},
            },
            "required": ["$status", "severity", "findings"],
        },
    ],
}


def role(**changes: Any) -> Role:
    fields: dict[str, Any] = {
        "name": "reviewer",
        "description": "Reads what others write.",
        "goal": "Let nothing broken through.",
        "capabilities": ("code-review", "testing"),
        "procedure": "1. Read the diff.\n2. Run the tests.\n",
        "output": "Findings, most serious first.",
        "frontmatter": Ref("0000000000000"),
        "schema": REVIEW,
        "timeout": None,
        "tools": None,
    }
    return Role(**{**fields, **changes})


STEPS = (
    step_markdown(1, "developer", {"$status": "done", "files": ["a.py", "b.py"]}, "Fixed it."),
    step_markdown(2, "reviewer", {"$status": "rejected", "severity": "low", "findings": []}, "No."),
    step_markdown(
        3, "developer", {"$status": "done", "note": "one\ntwo"}, "```sh\nmake\n```\n---\n# Task"
    ),
)


SINCE = STEPS[2:]
TASK = "Make the parser accept `---` lines."


def given_parts(**changes: Any) -> PromptParts:
    given: dict[str, Any] = {
        "role": role(),
        "task": TASK,
        "step_number": 1,
        "visits": 0,
        "steps": (),
        "own_session": False,
        "interrupted": False,
        "instruction": "Review the change of the developer.",
    }
    return prompt_parts(**{**given, **changes})


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("first-step", given_parts()),
        (
            "fresh-session",
            given_parts(step_number=4, visits=1, steps=STEPS, instruction="Look again."),
        ),
        (
            "own-session-interrupted",
            given_parts(step_number=4, visits=1, steps=SINCE, own_session=True, interrupted=True),
        ),
        (
            "bare-role",
            given_parts(
                role=role(
                    capabilities=(),
                    procedure="",
                    output="",
                    schema={
                        "properties": {"$status": {"const": "done"}},
                        "required": ["$status"],
                    },
                )
            ),
        ),
    ],
)
def test_the_prompt_reads_as_in_the_golden_file(name: str, parts: PromptParts) -> None:
    file = GOLDEN / f"{name}.md"
    text = prompt_text(parts)
    if os.environ.get("UWF_GOLDEN") == "write":
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")


def outline(text: str) -> list[str]:
    """The headings outside of fenced blocks, by CommonMark's rules for both."""
    headings, fence = [], ""
    for line in text.split("\n"):
        run = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if fence:
            if run and run[1].startswith(fence) and not line.strip(" `\t"):
                fence = ""
        elif run:
            fence = run[1]
        elif re.match(r" {0,3}#{1,6}( |$)", line):
            headings.append(line)
    return headings


def test_the_parts_stand_in_their_order_stable_ones_first() -> None:
    text = prompt_text(given_parts(step_number=4, visits=1, steps=STEPS))
    assert outline(text) == [
        "# What you must deliver",
        "## `$status: approved`",
        "## `$status: rejected`",
        "## `$status: $SUSPEND`",
        "# Your role: reviewer",
        "## Goal",
        "## Capabilities",
        "## Procedure",
        "## Output",
        "# Task",
        "# Progress",
        "# What happened before",
        "## Step 1: developer, done",
        "## Step 2: reviewer, rejected",
        "## Step 3: developer, done",
        "# Your instruction",
    ]


def test_the_instruction_is_given_as_it_was_written() -> None:
    """A person and a command are shown it without the heading that it has in the prompt."""
    parts = given_parts()
    assert not parts.instruction.startswith("#")
    assert prompt_text(parts).endswith(f"# Your instruction\n\n{parts.instruction}\n")


def test_a_reply_that_is_to_be_replaced_is_shown_to_a_session_that_does_not_know_it() -> None:
    text = prompt_text(given_parts(step_number=2, visits=1, steps=STEPS[:1], replaced=STEPS[1]))
    assert outline(text)[-4:] == [
        "## Step 1: developer, done",
        "# What you said last",
        "## Step 2: reviewer, rejected",
        "# Your instruction",
    ]


def test_the_stable_parts_are_the_same_bytes_at_every_visit() -> None:
    first = given_parts()
    later = given_parts(
        step_number=9, visits=4, steps=SINCE, own_session=True, instruction="Again."
    )
    stable = f"{first.instructions}\n\n{first.task}\n\n"
    assert prompt_text(first).startswith(stable) and prompt_text(later).startswith(stable)


@pytest.mark.parametrize("own_session", [False, True])
def test_the_task_is_always_there(own_session: bool) -> None:
    parts = given_parts(step_number=4, visits=1, steps=STEPS, own_session=own_session)
    assert TASK in prompt_text(parts)


def test_a_role_back_in_its_own_session_gets_only_the_steps_since_its_last_visit() -> None:
    history = given_parts(visits=1, steps=SINCE, own_session=True).history
    assert "Step 3" in history and "Step 2" not in history and "Step 1" not in history


def test_a_role_that_lost_its_session_gets_its_own_steps_too() -> None:
    history = given_parts(visits=1, steps=STEPS).history
    assert all(f"Step {number}" in history for number in (1, 2, 3))


def test_nothing_new_leaves_no_empty_part() -> None:
    parts = given_parts(visits=1, own_session=True)
    assert parts.history == ""
    assert "What happened" not in prompt_text(parts)


def test_an_interrupted_turn_is_told() -> None:
    assert "interrupted" in given_parts(interrupted=True).progress
    assert "interrupted" not in prompt_text(given_parts())


def test_long_histories_keep_the_newest_steps_and_say_how_many_are_left_out() -> None:
    steps = [step_markdown(n, "developer", {"$status": "done"}, "x" * 5000) for n in range(1, 21)]
    history = given_parts(steps=steps).history
    assert "(14 earlier steps are left out for length.)" in history
    assert "Step 15:" in history and "Step 14:" not in history and "Step 20:" in history
    assert len(history) < HISTORY_CHARACTERS + 200


def test_the_newest_step_is_there_however_long_it_is() -> None:
    steps = [
        step_markdown(1, "developer", {"$status": "done"}, "short"),
        step_markdown(2, "developer", {"$status": "done"}, "y" * 100_000),
    ]
    history = given_parts(steps=steps).history
    assert "y" * 100_000 in history
    assert "(1 earlier step is left out for length.)" in history


@CALM
@given(st.lists(st.text(max_size=30), max_size=8), st.integers(0, 100))
def test_what_is_kept_fits_unless_it_is_a_single_one(texts: list[str], limit: int) -> None:
    first = newest_within(texts, limit)
    kept = texts[first:]
    assert kept or not texts
    assert len("\n\n".join(kept)) <= limit or len(kept) == 1
    assert first == 0 or len("\n\n".join(texts[first - 1 :])) > limit


FENCES = ["```", "````", "`````", "~~~", "---", "```yaml", "   ````", "\t````", "`"]
OTHERS = ["# Your instruction", "## Step 9: tester, passed", "$status: approved", "", "\r", "{{x}}"]
POSING = st.lists(st.sampled_from([*FENCES, *OTHERS]) | st.text(max_size=6), max_size=8).map(
    "\n".join
)


@CALM
@given(POSING, POSING, POSING)
def test_no_task_and_no_step_can_pose_as_another_part(task: str, body: str, field: str) -> None:
    steps = [step_markdown(1, "developer", {"$status": "done", "field": field}, body)]
    plain = [step_markdown(1, "developer", {"$status": "done"}, "")]
    assert outline(prompt_text(given_parts(task=f"x{task}", steps=steps))) == outline(
        prompt_text(given_parts(task="x", steps=plain))
    )


def test_a_step_is_shown_as_its_agent_wrote_it() -> None:
    assert STEPS[0] == (
        "## Step 1: developer, done\n\n"
        "````\n---\n$status: done\nfiles:\n  - a.py\n  - b.py\n---\nFixed it.\n````"
    )
