"""The kinds of arguments, and those that several operations have."""

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict

from uwf_core.operations.declare import Bounds, Kind

LARGEST = 2**53 - 1
"""The largest whole number that is exact in JSON."""
ZERO_OR_MORE, ONE_OR_MORE = Bounds(0, LARGEST), Bounds(1, LARGEST)
ABOVE_ZERO = Bounds(0, open=True)
CLI, PYTHON, MODELS = Kind(only="cli"), Kind(only="python"), Kind(only="models")
HIDDEN = Kind(only="cli", hidden=True)
MOMENT, SPAN = Kind("moment", "WHEN"), Kind("span", "TIME")
TEXT = Kind("text", "TEXT")
LIMITS = "max_cost max_tokens max_steps max_minutes max_elapsed"
OUTPUT = Kind("", "FILE", options=("-o", "--output"))

Thread = Annotated[str, Kind("", "THREAD")]
Step = Annotated[str, Kind("", "STEP")]
Workflow = Annotated[str, Kind("", "WORKFLOW")]
Agent = Annotated[str, Kind("", "AGENT")]
File = Annotated[str | os.PathLike[str], Kind("path", "FILE")]
Key = Annotated[str, Kind("", "KEY", "setting")]
Node = Annotated[str, Kind("", "REF")]
Type = Annotated[str, Kind("", "TYPE")]
Payload = Annotated[Any, Kind("payload", "[FILE|-]", "file")]
Url = Annotated[str | None, Kind("", "[URL]")]

Prompt = Annotated[str, Kind("text", "TEXT", options=("-p", "--prompt"))]
CallAgent = Annotated[Agent | None, "Agent for this call: an alias, a name or a command."]
Quota = Annotated[
    int, ONE_OR_MORE, Kind("", "N", options=("--quota",)), "Maximum number of characters to show."
]
QUOTA = 32_000
Head = Annotated[Step | None, "Only if this step is still the newest of the thread."]
Tags = Annotated[Mapping[str, str], Kind("tags", "KEY=VALUE")]
Fields = Annotated[Mapping[str, Any] | str | None, Kind("fields")]
Queue = Annotated[bool, "Hand it to workers (`uwf worker`), which run it from now on."]
Yes = Annotated[bool, CLI, "Do not ask for confirmation."]
DryRun = Annotated[bool, "Show what would happen; change nothing."]


class HowToRun(TypedDict, total=False):
    """How what runs steps runs them."""

    wait_limits: Annotated[
        float | None, SPAN, "Wait up to 30m, 2h … in all when a service asks to wait, and continue."
    ]
    until_done: Annotated[bool, "Run until the end, at most 100 steps."]
    background: Annotated[bool, "Run in the background; see `wait` and `stop`."]
    no_input: Annotated[
        bool, CLI, "Do not ask a person on this terminal; leave the question pending."
    ]


class RunThread(HowToRun, total=False):
    """How a thread that exists is run."""

    agent: CallAgent
    cwd: Annotated[
        str | None, Kind("", "DIR"), "Working folder for this call, in place of the thread's."
    ]
    head: Head
    via: Annotated[str | None, HIDDEN]
    announce: Annotated[int | None, HIDDEN, "Descriptor that reports the acquired lock."]


class Start(TypedDict, total=False):
    """What a new thread gets."""

    cwd: Annotated[
        str | os.PathLike[str] | None,
        Kind("", "DIR"),
        "Working folder of the agents (default: the current one).",
    ]
    agent: Annotated[
        str | None,
        Kind("bindings", "AGENT", "binding"),
        "Agent for the roles of this thread, or for one: ROLE=AGENT (may be repeated).",
    ]
    bindings: Annotated[Mapping[str, str], PYTHON]
    input: Annotated[
        Fields, Kind("", "INPUT"), "Typed input: field=value (may be repeated), JSON, or @file."
    ]
    max_cost: Annotated[
        float | None, ABOVE_ZERO, Kind("", "USD", into="limits"),
        "Stop when this cost is reached, with all that it calls.",
    ]  # fmt: skip
    max_tokens: Annotated[
        int | None, ONE_OR_MORE, Kind("", "N", into="limits"), "Stop when N tokens are used."
    ]
    max_steps: Annotated[
        int | None, ONE_OR_MORE, Kind("", "N", into="limits"), "Stop after N steps."
    ]
    max_minutes: Annotated[
        float | None, ABOVE_ZERO, Kind("", "M", into="limits"), "Stop after M minutes of running."
    ]
    max_elapsed: Annotated[
        float | None,
        Kind("span", "TIME", into="limits"),
        "Stop after 45m, 4h …, waiting included.",
    ]
    limits: Annotated[Mapping[str, float] | None, PYTHON]
    tags: Annotated[
        Tags, Kind(options=("--tag",)), "Tag of the thread, for lists (may be repeated)."
    ]
    thread: Annotated[str | None, PYTHON]


class Filter(TypedDict, total=False):
    """Which threads."""

    status: Annotated[
        str | None, Kind("", "S,…", "status"),
        "Only these statuses; `active` is idle or running.",
    ]  # fmt: skip
    workflow: Annotated[
        str | None, Kind("", "W", "workflow"), "Only threads of this workflow (name or reference)."
    ]
    tag: Annotated[
        Sequence[str], Kind("", "KEY=VALUE"), "Only threads with this tag (may be repeated)."
    ]
    role: Annotated[str | None, Kind("", "ROLE"), "Only threads at this role, or waiting there."]
    agent: Annotated[Agent | None, "Only threads with a step of this agent, or bound to it."]
    failure: Annotated[
        str | None, Kind("", "KIND"), "Only threads that wait for a failure of this kind."
    ]
    text: Annotated[str | None, Kind("", "TEXT"), "Only threads with this text in their task."]
    after: Annotated[int | None, MOMENT, "Only threads started after a date, or 7d, 12h."]
    before: Annotated[int | None, MOMENT, "Only threads started before."]


class StartAndRun(Start, HowToRun, total=False):
    """What a new thread gets, and how it is run."""
