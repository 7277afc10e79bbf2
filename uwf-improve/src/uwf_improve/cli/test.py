"""`uwf improve try` and `decide`: trials of an edit."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.client import Client
from uwf_core.commands import Screen, Session, fields, working_folder
from uwf_core.errors import ExitCode, UsageError
from uwf_core.fields.records import write_record
from uwf_eval.cli.recorded import selection_of
from uwf_improve.edit.catalog import Edits
from uwf_improve.gate.bar import MOST_TESTS
from uwf_improve.sealed.confirm import TestOptions, confirm
from uwf_improve.sealed.open_trials import try_edit
from uwf_improve.sealed.records import SetRecord
from uwf_improve.sealed.screening import screen_edit
from uwf_improve.sealed.trials import Match

if TYPE_CHECKING:
    from uwf_improve.documents import VerdictDocument


def try_(
    session: Session, edit: str, set_: str | None, judges: str | None, repeat: int, **options: Any
) -> int:
    """Try an edit."""
    wanted = selection_of((set_ or "",), options)
    if (set_ is None) == wanted.is_empty:
        raise UsageError("name either --set or recorded steps",
                         hint="such as --set SET, or --from-workflow NAME --role ROLE")  # fmt: skip
    if judges is not None and wanted.is_empty:
        raise UsageError("--judges needs recorded steps", hint="the tasks of a set have judges")
    with Client.open(env=session.env, cwd=working_folder()) as client:
        found, _ = Edits(client).find(edit)
        match = Match(
            name="", tasks=[judges] if judges else [], files=wanted.files, repeats=repeat,
            workflows=[found.champion, found.challenger], **options,
        )  # fmt: skip
        if set_ is None:
            document, code = screen_edit(session, client, found, wanted, match)
        else:
            document, code = try_edit(session, client, found, set_, match)
    session.emit_line(document, _tried_text)
    return code


def _tried_text(document: Mapping[str, Any], screen: Screen) -> str:
    states = ", ".join(f"{n} {state.replace('_', ' ')}" for state, n in document["states"].items())
    return fields(
        (
            ("edit", document["edit"]),
            ("run", document["run"] + (" (a screening)" if document["screening"] else "")),
            ("trials", states),
            ("next", document["hint"]),
        ),
        screen,
    )


def decide(
    session: Session, edit: str, set_: str, dry_run: bool, fail_if: str | None, **options: Any
) -> int:
    """Test an edit."""
    with Client.open(env=session.env, cwd=working_folder()) as client:
        found, _ = Edits(client).find(edit)
        state = confirm(session, client, found, set_, TestOptions(dry_run=dry_run, **options))
    document = _verdict(found.edit, state, dry_run)
    session.emit_line(document, _verdict_text)
    if document["verdict"] == "refused":
        return ExitCode.USAGE
    failed = fail_if is not None and document["verdict"] == "not accepted"
    return ExitCode.FAILED if failed else ExitCode.DONE


def _verdict(edit: str, state: SetRecord, dry_run: bool) -> "VerdictDocument":
    test = next((each for each in state.tests if each.edit == edit), None)
    hint = f"uwf improve decide {edit} --set {state.set}"
    if test is not None and test.verdict == "accepted":
        hint = f"uwf improve report {edit}"
    elif test is not None and not dry_run:
        left = MOST_TESTS - len(state.spent)
        hint = f"uwf improve propose; {left} tests of these tasks are left"
    return {
        "edit": edit,
        "set": state.set,
        "verdict": None if test is None else test.verdict,
        "test": write_record(test),
        "hint": hint,
    }


def _verdict_text(document: Mapping[str, Any], screen: Screen) -> str:
    test = document["test"] or {}
    gain = test.get("gain")
    low = test.get("low")
    return fields(
        (
            ("edit", document["edit"]),
            ("verdict", document["verdict"]),
            ("why", test.get("why") or None),
            ("gain", None if gain is None else f"{gain:+.3g}"),
            (
                "at least",
                None
                if low is None
                else f"{low:+.3g} (lower end of the {1 - 2 * test['level']:.1%} range)",
            ),
            ("next", document["hint"]),
        ),
        screen,
    )
