"""What the section of a step needs besides the step."""

from typing import NamedTuple

from uwf_core.api import RecordedEvent, RecordedStep


class Surroundings(NamedTuple):
    """What a section needs besides its step.

    Attributes:
        thread: the id of the run. task: its text. task_ref: the node of that text. cwd: its folder.
        earlier: the references of the steps before, oldest first.
        previous: the step before, None for the first.
        is_reopened: whether the run had ended before this step.
        events: what happened between the step before and this one, besides attempts.
        guided: by role, the step in which it last got skills, memory or rules, and their texts.
        shown: the long parts of prompts that the page shows already, with the step of each.
    """

    thread: str
    task: str
    task_ref: str
    cwd: str
    earlier: list[str]
    previous: RecordedStep | None
    is_reopened: bool
    events: list[RecordedEvent]
    shown: dict[str, int]
    guided: dict[str, tuple[int, dict[str, str]]]
