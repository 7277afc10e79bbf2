"""Commands about tasks: `new` and `check`."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from uwf_core.commands import Screen, Session, command, problem_lines, working_folder
from uwf_core.errors import ExitCode, UsageError
from uwf_eval.cli.recorded import recorded_options

if TYPE_CHECKING:
    from uwf_eval.task.recorded import Selection


@command(
    "new",
    "uwf-eval new my-task",
    "uwf-eval new tasks/sorter --from-workflow triage --role sorter --newest 50",
    "uwf-eval new tasks/fire --from-thread 01JC --expect '$status=urgent'",
)
@click.argument("task", metavar="TASK")
@recorded_options
@click.option("--expect", multiple=True, metavar="FIELD=VALUE",
              help="Expected field of the answer of --from-thread; repeatable.")  # fmt: skip
def new(session: Session, task: str, expect: tuple[str, ...], **options: Any) -> None:
    """Create an example task, without a model and a key. TASK is a new folder.

    With --from-thread alone, it is that whole thread: its prompt, input and recorded files, and the
    answer that you expect. With --from-step, --from-workflow or --role, its cases are recorded
    steps. Add judges to it.
    """
    from uwf_eval.cli.recorded import selection_of
    from uwf_eval.task.load import write_starter

    folder = Path(os.path.normpath(Path(working_folder(), task)))
    if len(options["threads"]) == 1 and not (options["role"] or options["steps"]):
        _write_thread(session, folder, task, expect, options)
        return
    if expect:
        raise UsageError("--expect needs --from-thread without --role", hint="name one thread")
    wanted = selection_of((task,), options)
    if wanted.is_empty:
        write_starter(folder)
    else:
        _write_recorded(session, folder, wanted)
    document = {
        "name": folder.name,
        "folder": str(folder),
        "hint": f"uwf-eval run {task} --repeat 3",
    }
    session.emit(document, lambda each, _: f"{each['folder']}\nnext: {each['hint']}")


def _write_thread(
    session: Session, folder: Path, task: str, expect: tuple[str, ...], options: dict[str, Any]
) -> None:
    from uwf_core.client import Client
    from uwf_eval.task.whole_thread import read_fields, write_thread_task

    files = None if options["files"] is None else Path(working_folder(), options["files"])
    [thread] = options["threads"]
    with Client.open(env=session.env, cwd=working_folder()) as client:
        written = write_thread_task(client, thread, folder, files, read_fields(expect))
    if written.without_files:
        session.note(f"note: no files: {written.without_files}; --files DIR adds them")
    if not expect:
        session.note("note: expected.json has the recorded answer; correct it")
    document = {
        "name": folder.name,
        "folder": str(folder),
        "expected": written.expected,
        "hint": f"uwf-eval run {task} --repeat 3",
    }
    session.emit(document, lambda each, _: f"{each['folder']}\nnext: {each['hint']}")


def _write_recorded(session: Session, folder: Path, wanted: "Selection") -> None:
    from uwf_core.client import Client
    from uwf_eval.cli.recorded import selected
    from uwf_eval.task.load import check_new
    from uwf_eval.task.recorded import write_task

    check_new(folder)
    files = None if wanted.files is None else Path(working_folder(), wanted.files)
    with Client.open(env=session.env, cwd=working_folder()) as client:
        steps = selected(session, client, wanted).steps
    try:
        write_task(folder, folder.name, steps, files)
    except OSError as error:
        raise UsageError(
            f"cannot write the task: {error.strerror}", where=str(folder),
            hint="choose a writable folder",
        ) from error  # fmt: skip


@command("check", "uwf-eval check my-task", "uwf-eval check tasks/*")
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...")
def check(session: Session, tasks: tuple[str, ...]) -> int:
    """Validate tasks and report every error: folders, archives, installed ones."""
    from uwf_core.client import Client
    from uwf_eval.task.load import check_task, find_task

    cwd = Path(working_folder())
    problems = []
    with Client.open(env=session.env, cwd=cwd) as client, TemporaryDirectory() as scratch:
        for index, word in enumerate(tasks):
            found = find_task(word, client, cwd)
            checked = check_task(found, Path(scratch, str(index)), client)
            problems += [each.document() for each in checked.problems]
    valid = not any(each["severity"] == "error" for each in problems)
    session.emit({"valid": valid, "problems": problems}, _text)
    return ExitCode.DONE if valid else ExitCode.INVALID


def _text(document: dict[str, object], screen: Screen) -> str:
    problems = document["problems"]
    assert isinstance(problems, list)
    lines = list(problem_lines(problems, screen))
    word = "valid" if document["valid"] else "invalid"
    return "\n".join([*lines, screen.status(word)])
