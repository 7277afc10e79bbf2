"""What an agent gets to read, in which order, and that no step can pose as another part of it.

The golden files are prompts as agents get them. After a wanted change: `UWF_GOLDEN=write pytest`.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uwf_core.api.agent import PromptParts
from uwf_core.ids import Ref
from uwf_core.prompt.assemble import (
    HISTORY_CHARACTERS,
    Situation,
    newest_within,
    prompt_parts,
    prompt_text,
)
from uwf_core.prompt.step_text import step_markdown
from uwf_core.thread.history import Saying
from uwf_core.workflow.definition import Edge, Role
from uwf_core.workflow.deliverable import deliverable_of, ways_of

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


def made_role(**changes: Any) -> Role:
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


ROLE = made_role()


def past(*steps: tuple[Any, ...]) -> dict[str, str]:
    """Steps by their reference, from the arguments of `step_markdown`."""
    return {f"STEP{step[0]}": step_markdown(*step) for step in steps}


STEPS = past(
    (1, "developer", {"$status": "done", "files": ["a.py", "b.py"]}, "Fixed it."),
    (2, "reviewer", {"$status": "rejected", "severity": "low", "findings": []}, "No."),
    (3, "developer", {"$status": "done", "note": "one\ntwo"}, "```sh\nmake\n```\n---\n# Task"),
)


SINCE = {"STEP3": STEPS["STEP3"]}
SAID_TO = step_markdown(
    2,
    "reviewer",
    {"$status": "approved"},
    "Fine.",
    [Saying("resume", "Use tabs."), Saying("poke", "Look\n# Task\nagain.")],
)
TASK = "Make the parser accept `---` lines."


LEADS = {"approved": "$END", "rejected": "developer"}


def given_parts(
    role: Role = ROLE,
    leads: Mapping[str, str] = LEADS,
    *,
    typed: bool = False,
    **changes: Any,
) -> PromptParts:
    texts = dict[Ref, str]()

    def put(text: str) -> Ref:
        texts[ref := Ref(f"{len(texts):013}")] = text
        return ref

    ways = ways_of({status: Edge(target) for status, target in leads.items()}, role.name)
    form, last_line = deliverable_of(role.schema, ways, put).of(typed=typed)
    given: dict[str, Any] = {
        "thread": "06F0000000000000000000THRD",
        "task": TASK,
        "cwd": "/home/ada/parser",
        "instruction": "Review the change of the developer.",
        "form": texts[Ref(form)],
        "last_line": last_line,
    }
    return prompt_parts(role, Situation(**{**given, **changes}))


def given_text(**changes: Any) -> str:
    """The whole prompt."""
    return prompt_text(given_parts(**changes), "reviewer" if changes.get("own_session") else None)


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
            given_parts(
                step_number=4,
                visits=1,
                steps=SINCE,
                own_session=True,
                last_failure="interrupted",
            ),
        ),
        ("typed", given_parts(typed=True)),
        ("poked-elsewhere", given_parts(step_number=2, visits=1, replaced=SAID_TO)),
        (
            "said-before",
            given_parts(
                last_failure="context_too_long",
                said=[Saying("resume", "Use tabs."), Saying("answer", '{"decision": "allow"}')],
            ),
        ),
        (
            "bare-role",
            given_parts(
                made_role(
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
    text = prompt_text(parts, "reviewer" if name.startswith("own-session") else None)
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
    end = f"# Your instruction\n\n{parts.instruction}\n\n{parts.form}\n"
    assert prompt_text(parts).endswith(end)


def test_a_reply_that_is_to_be_replaced_is_shown_to_a_session_that_does_not_know_it() -> None:
    text = prompt_text(
        given_parts(
            step_number=2, visits=1, steps={"STEP1": STEPS["STEP1"]}, replaced=STEPS["STEP2"]
        )
    )
    assert outline(text)[-4:] == [
        "## Step 1: developer, done",
        "# What you said last",
        "## Step 2: reviewer, rejected",
        "# Your instruction",
    ]


def test_the_stable_parts_are_the_same_bytes_in_every_new_session() -> None:
    first = given_parts()
    later = given_parts(
        step_number=9, visits=4, steps=SINCE, cwd="/elsewhere", instruction="Again."
    )
    stable = f"{first.instructions}\n\n{first.task}\n\n"
    assert prompt_text(first).startswith(stable) and prompt_text(later).startswith(stable)


def test_the_task_is_there_in_every_new_session() -> None:
    assert TASK in prompt_text(given_parts(step_number=4, visits=1, steps=STEPS))


def test_in_its_own_session_one_line_replaces_form_role_and_task() -> None:
    text = given_text(step_number=4, visits=1, steps=SINCE, own_session=True)
    assert text.splitlines()[0].startswith("You continue this session as the reviewer: ")
    assert outline(text) == [
        "# Progress",
        "# What happened since your last reply",
        "## Step 3: developer, done",
        "# Your instruction",
    ]


def test_the_parts_are_whole_in_its_own_session_too() -> None:
    """An adapter may send the first one as the system text of each call."""
    first, again = given_parts(), given_parts(visits=1, own_session=True)
    assert (again.instructions, again.task) == (first.instructions, first.task)


@pytest.mark.parametrize("changes", [{}, {"own_session": True}, {"typed": True}])
def test_the_form_is_the_last_line_of_every_prompt(changes: dict[str, Any]) -> None:
    last = given_text(**changes).splitlines()[-1]
    assert "`$status: rejected` with `severity`, `findings` (optional: `score`," in last
    assert "$SUSPEND" in last


def test_a_first_entry_says_where_each_status_leads_and_what_others_see() -> None:
    text = prompt_text(
        given_parts(
            leads={"approved": "$SUSPEND", "rejected": "reviewer"}, cwd='/a folder/with "quotes"'
        )
    )
    assert "## `$status: approved`\n\nNext: a question to a person." in text
    assert "## `$status: rejected`\n\nNext: you again." in text
    assert r'Your working folder is "/a folder/with \"quotes\"".' in text
    assert "They see your reply and the files in the working folder, and nothing else" in text


def test_a_typed_object_needs_no_words_about_frontmatter() -> None:
    text = prompt_text(given_parts(typed=True))
    assert "---\n" not in text and "frontmatter" not in text and "YAML" not in text
    assert "Next: the role developer." in text


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


@pytest.mark.parametrize("kind", ["timeout", "stalled", "max_turns", "crashed", "truncated"])
@pytest.mark.parametrize("own_session", [False, True])
def test_the_prompt_says_why_the_last_attempt_ended(kind: str, own_session: bool) -> None:
    progress = given_parts(last_failure=kind, own_session=own_session).progress
    assert f"ended before you delivered ({kind}: " in progress


def test_a_failure_before_any_work_is_not_mentioned() -> None:
    assert "attempt" not in prompt_text(given_parts(last_failure="unavailable"))
    assert "attempt" not in prompt_text(given_parts())


def test_long_histories_keep_the_newest_steps_and_say_how_many_are_left_out() -> None:
    steps = past(*((n, "developer", {"$status": "done"}, "x" * 5000) for n in range(1, 21)))
    history = given_parts(steps=steps).history
    command = "`uwf thread read 06F0000000000000000000THRD --before STEP15`"
    assert f"(14 earlier steps are left out for length: {command})" in history
    assert "Step 15:" in history and "Step 14:" not in history and "Step 20:" in history
    assert len(history) < HISTORY_CHARACTERS + 200


def test_the_newest_step_is_there_however_long_it_is() -> None:
    steps = past(
        (1, "developer", {"$status": "done"}, "short"),
        (2, "developer", {"$status": "done"}, "y" * 100_000),
    )
    history = given_parts(steps=steps).history
    assert "y" * 100_000 in history
    assert "(1 earlier step is left out for length: `" in history


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
@given(POSING, POSING, POSING, POSING)
def test_no_task_no_step_and_no_person_can_pose_as_another_part(
    task: str, body: str, field: str, said: str
) -> None:
    def outlined(task: str, output: dict[str, Any], body: str, said: str) -> list[str]:
        heard = [Saying("resume", said), Saying("answer", said)]
        steps = past((1, "developer", output, body, heard))
        return outline(prompt_text(given_parts(task=task, steps=steps, said=heard, cwd=f"/{said}")))

    assert outlined(f"x{task}", {"$status": "done", "field": field}, body, said) == outlined(
        "x", {"$status": "done"}, "", ""
    )


def test_a_step_is_shown_as_its_agent_wrote_it() -> None:
    assert STEPS["STEP1"] == (
        "## Step 1: developer, done\n\n"
        "````\n---\n$status: done\nfiles:\n  - a.py\n  - b.py\n---\nFixed it.\n````"
    )
