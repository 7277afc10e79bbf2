"""Trials of an edit on the open tasks of a set: for the search, shown like any run."""

from collections import Counter
from typing import Any

from uwf_core.client import Client
from uwf_core.commands import Session
from uwf_core.errors import ExitCode, UsageError
from uwf_eval.store.results import Results
from uwf_improve.edit.draft import refuse_unfit
from uwf_improve.edit.records import WorkflowEdit
from uwf_improve.sealed.catalog import Sets, secrets_of
from uwf_improve.sealed.trials import Match, run_match, run_named


def try_edit(
    session: Session,
    client: Client,
    edit: WorkflowEdit,
    name: str,
    repeats: int,
    jobs: int,
    agent: str | None = None,
    model: str | None = None,
) -> tuple[dict[str, Any], int]:
    """Run both versions on the open tasks; the document and the exit code of the run. A run that
    was interrupted is resumed; one that has ended is shown again.

    Raises:
        UsageError: the set has no open tasks. EditRefused: the edit contains texts of tasks.
    """
    state = Sets(client).read(name)
    tasks = [each.name for each in state.tasks if each.side == "open"]
    if not tasks:
        raise UsageError(
            f"the set {name!r} has no open tasks",
            hint=f"`uwf improve seal {name} TASK... --add` adds tasks; the first "
            f"{state.bar.sealed} are sealed",
        )
    refuse_unfit(client, edit, secrets_of(client, name))
    folder = Sets(client).folder(name) / "tasks"
    match = Match(
        name=f"{name}.open.{edit.edit}", tasks=[folder / each for each in tasks],
        workflows=[edit.champion, edit.challenger], repeats=repeats, jobs=jobs, agent=agent,
        model=model,
    )  # fmt: skip
    known = run_named(client, match.name)
    if known is not None and known.finished_at_ms is not None:
        trials, run, code = Results(client).trials(known.run), known.run, int(ExitCode.DONE)
    else:
        outcome = run_match(session, client, session.env, match)
        trials, run, code = outcome.trials, outcome.run.run, outcome.exit_code
    states = Counter(each.state for each in trials)
    hint = f"uwf eval compare {edit.champion} {edit.challenger} --by workflow"
    document = {
        "edit": edit.edit, "set": name, "run": run, "trials": len(trials),
        "states": dict(sorted(states.items())), "hint": hint,
    }  # fmt: skip
    return document, code
