"""What is done with steps."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from uwf_core.operations.declare import Kind, Tool
from uwf_core.operations.kinds import CLI, OUTPUT, QUOTA, CallAgent, Prompt, Quota, Step, Thread
from uwf_core.operations.table import operation

if TYPE_CHECKING:
    from uwf_core.engine.documents import AnswerDocument, StepDocument, StepRow, TurnDocument
    from uwf_core.engine.file_documents import FilesDocument
    from uwf_core.views.step_files import StepDiffDocument


@operation(
    "step.ask", "threads.ask:ask_step", text="step:answer_text", permission="run", client="ask",
    mcp=[Tool("ask", "step text", permission="read")],
)  # fmt: skip
def step_ask(
    step: Step,
    text: Annotated[Prompt, "The question."],
    *,
    agent: CallAgent = None,
    fork: Annotated[bool, "Ask a new session that gets the record of the step."] = True,
) -> "AnswerDocument":
    """Ask the session of a past step a question; the thread stays unchanged.

    An agent answers, which costs tokens. The answer shows whether it came from that session
    (original) or from a new one that got the record of the step (reconstructed).

    $ uwf step ask 3FQ8K -p "Why did you leave the cache alone?"
    """


@operation(
    "step.diff", "views.step_files:diff_step", text="step:patch_text", client="step_diff",
)  # fmt: skip
def step_diff(
    step: Step,
    *,
    stat: Annotated[bool, CLI, "Only the changed paths, without the patch."] = False,
) -> "StepDiffDocument":
    """Show what a step changed in the files: the changed paths, and a patch.

    The files must be recorded: `record: true` in the workflow, or the setting workspace.record.

    $ uwf step diff 3FQ8K
    $ uwf step diff @last --stat
    """


@operation(
    "step.files", "views.steps:step_files", text="step:files_text", client="step_files",
)  # fmt: skip
def step_files(
    step: Step,
    *,
    folder: Annotated[
        str | None, OUTPUT, Kind("", "DIR"), "Write the files into this folder."
    ] = None,
    force: Annotated[bool, "Replace files that exist in the folder."] = False,
) -> "FilesDocument":
    """List the files that a step delivered, with their sizes and nodes.

    With -o the files are written below DIR, each at its path and with its permissions, as they were
    when the step was stored. Nothing is ever written outside of DIR: an absolute path is taken as
    one below it. A file that exists is an error, unless you add --force.

    $ uwf step files @last
    $ uwf step files 3FQ8K -o delivered
    """


@operation(
    "step.list", "views.steps:list_steps", text="step:steps_text", key="steps", client="steps",
    mcp=[Tool("steps", "thread")],
)  # fmt: skip
def step_list(thread: Thread) -> "Sequence[StepRow]":
    """List the steps of a thread, oldest first; the first row is the start.

    $ uwf step list @last
    """


@operation(
    "step.read", "views.read:step_document", text="{text}", key="text", document=True,
    client="read_step", mcp=[Tool("read_step", "step prompt")],
)  # fmt: skip
def step_read(
    step: Step,
    quota: Quota = QUOTA,
    *,
    prompt: Annotated[bool, "Show the exact prompt that the agent got."] = False,
) -> str:
    """Read a step as Markdown: its turns and its output.

    $ uwf step read @last
    $ uwf step read 3FQ8K --prompt
    """


@operation(
    "step.show", "views.steps:show_step", text="step:step_text", client="step",
    mcp=[Tool("step", "step", pages="turns")],
)  # fmt: skip
def step_show(step: Step) -> "StepDocument":
    """Show one step: output, usage, timing, attempts, corrections and turns.

    STEP is an id, a unique prefix of one, or @last.

    $ uwf step show 3FQ8K
    $ uwf step show @last --format json
    """


@operation("step.turns", "views.steps:list_turns", run="step:turns", key="turns", client="turns")
def step_turns(
    thread: Thread,
    role: Annotated[
        str | None, Kind("", "R", options=("--role",)), "Only turns of this role."
    ] = None,
    *,
    live: Annotated[bool, CLI, "Follow the running step until it ends."] = False,
    running: Annotated[bool, "Only turns of the step that is running."] = False,
) -> "Sequence[TurnDocument]":
    """Show the turns of all steps of a thread, also of the running step.

    With --live each line is printed once, when it is finished. With --live and --format json, a
    turn is one line of JSON, and a turn that has grown is printed again with the same index.

    $ uwf step turns @last
    $ uwf step turns @last --role developer --live
    """
