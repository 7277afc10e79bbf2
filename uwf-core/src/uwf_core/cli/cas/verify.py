"""`uwf cas verify`."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from uwf_core.cli.frame import command
from uwf_core.cli.render.style import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode, UsageError


@command(
    "verify",
    "uwf cas verify",
    "uwf cas verify @last",
    "uwf cas verify --repair --from thread.tar",
    logged=True,
)
@click.argument("word", metavar="[REF|THREAD]", required=False)
@click.option("--repair", is_flag=True, help="Put right what can be put right without inventing.")
@click.option("--from", "bundle", metavar="BUNDLE", help="Take intact nodes from this bundle.")
def verify(session: Session, word: str | None, repair: bool, bundle: str | None) -> int:
    """Prove that nothing in the store was lost or altered.

    Looks at the reference, the SHA-256 and the type of every node, at references to what is not
    there, at every name, and at what each thread's head says against its steps. Names what is
    damaged and the threads that it affects, which are listed as corrupt from then on. With a
    thread or a node, looks at what that leads to. Exit code 1 if anything is wrong.

    --repair rebuilds what heads say from their steps, and with --from brings damaged and missing
    nodes back from a bundle; a thread that is whole again loses its mark.
    """
    from uwf_core.upkeep.repair import VerifyOptions, verify_store

    if bundle is not None and not repair:
        raise UsageError("--from goes with --repair", hint="add --repair, or leave --from out")
    document = verify_store(session.engine, VerifyOptions(word, repair, bundle))
    session.emit(document, _text)
    return ExitCode.DONE if document["valid"] else ExitCode.FAILED


def _text(document: Mapping[str, Any], screen: Screen) -> str:
    return "\n".join(_lines(document, screen))


def _lines(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    for each in document["repaired"]:
        yield f"{screen.paint('repaired', 'ok')} {each}"
    for problem in document["problems"]:
        what = problem["node"] or problem["variable"] or "store"
        yield f"{screen.paint(problem['kind'], 'error')} {what}: {problem['message']}"
        if problem["threads"]:
            yield f"  threads: {', '.join(problem['threads'])}"
    counts = ", ".join(f"{document[what]} {what}" for what in ("nodes", "variables", "threads"))
    if document["valid"]:
        yield f"{counts}: nothing is wrong"
    else:
        damaged = f"{len(document['damaged'])} threads damaged"
        yield f"{counts}: {len(document['problems'])} problems, {damaged}"
