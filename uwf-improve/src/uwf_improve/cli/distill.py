"""`uwf distill`."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from uwf_core.commands import Screen, Session, command, working_folder
from uwf_core.errors import UsageError

if TYPE_CHECKING:
    from uwf_improve.distill.write import DraftDocument, DraftPrompt

_EXAMPLES: Final = (
    "uwf distill ~/.claude/projects/-home-me-shop/4f6c….jsonl -o fix-bugs",
    "uwf distill 4f6c0e7a-2b7e-4d1b-9f0e-0a4f6d7c8b9a --agent claude-code",
)
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@command("distill", *_EXAMPLES)
@click.argument("session_", metavar="SESSION")
@click.option("-o", "--output", metavar="FOLDER", help="A new folder; by default ./NAME.")
@click.option("--name", help="Name of the workflow; by default of the file.")
@click.option("--agent", help="Agent that names the roles and writes their goals.")
@click.option("--model", help="Model of that agent.")
@click.option("--show-prompt", is_flag=True, help="Print what that agent would get, and stop.")
def distill(
    session: Session, session_: str, output: str | None, name: str | None,
    agent: str | None, model: str | None, show_prompt: bool,
) -> None:  # fmt: skip
    """Make a draft of a workflow of one recorded session, with the run as its first test.

    SESSION is a file: a transcript of Claude Code, what `hermes sessions export` writes, a
    trajectory (ATIF), or a session of the builtin agent; or the id of a session of Claude Code.
    Without --agent no model is called: a role for each phase of exploring, changing and checking,
    and one for the person where the session has further messages.
    """
    from uwf_improve.distill.draft import ROLES
    from uwf_improve.distill.naming import named_texts, question_of
    from uwf_improve.distill.phases import course_of
    from uwf_improve.distill.read import read_session
    from uwf_improve.distill.write import write_draft

    cwd = Path(working_folder())
    read = read_session(session_, cwd, session.env)
    course = course_of(read)
    if show_prompt:
        shown: DraftPrompt = {"prompt": question_of(course)}
        session.emit(shown, lambda each, _: each["prompt"])
        return
    name = _checked(name or _name_of(session_))
    folder = Path(os.path.normpath(cwd / (output or name)))
    asked = agent is not None or model is not None
    texts = named_texts(course, agent, model, cwd, session.env) if asked else ROLES
    session.emit(write_draft(folder, name, course, read.format, texts), _text)


def _name_of(word: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", Path(word).stem).strip("-_")[:64] or "draft"


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a name of a workflow", hint="letters, digits, . _ -")
    return name


def _text(document: "DraftDocument", _screen: Screen) -> str:
    roles = ", ".join(document["roles"])
    return (
        f"{document['workflow']}\n{document['recorded']}\n"
        f"{document['steps']} steps of {document['format']} by {roles}; the run replays\n"
        f"next: {document['hint']}"
    )
