"""The sealed test of an edit: begin it, run its trials, decide, store the verdict.

Each stage is stored before the next, so a call that was killed anywhere is continued by the same
command: a test that has begun keeps its number, its run is resumed, and the verdict follows from
its trials alone.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from uwf_core.client import Client
from uwf_core.commands import Session, working_folder
from uwf_core.errors import RunInterrupted, UsageError, UwfError
from uwf_eval.calibration.catalog import copy_calibrations
from uwf_eval.records import Trial
from uwf_eval.run.run_loop import LEFT
from uwf_eval.run.start import RunOutcome
from uwf_eval.store.results import SEALED, Results
from uwf_eval.task.tree import digest_of_tree
from uwf_improve.edit.catalog import Edits
from uwf_improve.edit.draft import refuse_unfit
from uwf_improve.edit.records import WorkflowEdit
from uwf_improve.gate.bar import MOST_TESTS
from uwf_improve.gate.decide import Decision, decide, refusal
from uwf_improve.gate.evidence import Contest, weigh_evidence
from uwf_improve.gate.sides import sealed_units
from uwf_improve.sealed.catalog import Sets, secrets_of
from uwf_improve.sealed.records import SealedTest, SetRecord
from uwf_improve.sealed.sealing import opened
from uwf_improve.sealed.trials import Match, run_match, run_named

_OPENED = "the tasks were opened before its verdict"
_TRIES = 3
"""So often trials with an infrastructure error are run again in one call."""


class TestRefused(UsageError):
    """A sealed test that cannot be made; nothing was spent."""

    code = "test-refused"
    __test__ = False


@dataclass(frozen=True, kw_only=True)
class TestOptions:
    """How the trials of a test run. `dry_run`: print the plan, run nothing."""

    __test__ = False

    jobs: int = 1
    agent: str | None = None
    model: str | None = None
    dry_run: bool = False


def confirm(
    session: Session, client: Client, edit: WorkflowEdit, name: str, options: TestOptions
) -> SetRecord:
    """Test an edit on the sealed tasks of a set; its record with the verdict.

    Raises:
        TestRefused: it cannot be tested. BusyError: another process tests the set. UwfError: it
            was interrupted, or trials have no result.
    """
    Sets(client).read(name)  # an unknown set gets no folder
    with Sets(client).held(name):
        return _confirm(session, client, edit, name, options)


def _confirm(
    session: Session, client: Client, edit: WorkflowEdit, name: str, options: TestOptions
) -> SetRecord:
    sets = Sets(client)
    state = sets.read(name)
    done = next((each for each in state.tests if each.edit == edit.edit and each.verdict), None)
    if done is not None:
        _save_verdict(client, edit, done)  # a call may have been killed before it
        return state
    _check(client, state, edit)
    _print_plan(session, client, state)
    if options.dry_run:
        return state
    if not _has_trials(client, state):  # also where a call ended before its first trial
        before = state.tests if state.running is None else state.tests[:-1]
        state = sets.append(state, "begun", tests=[*before, _begun(state, edit, options)])
    trials = _run(session, client, state, edit, options)
    return _decided(client, state, edit, trials)


def _check(client: Client, state: SetRecord, edit: WorkflowEdit) -> None:
    if state.running and _has_trials(client, state) and state.running.edit != edit.edit:
        other = state.running.edit
        raise TestRefused(
            f"test {state.running.number} of the set {state.set!r} is not finished",
            hint=f"`uwf improve decide {other} --set {state.set}` finishes it",
        )
    if not _has_trials(client, state):
        number = len(state.spent) + (state.running is None)
        why = refusal(state.bar, len(sealed_units(state.places)), number)
        if why is not None:
            raise TestRefused(
                why, where=f"set {state.set}",
                hint=f"`uwf improve seal {state.set} TASK... --add` adds tasks",
            )  # fmt: skip
        if Edits(client).state(edit.edit) == "not accepted":
            raise TestRefused(f"the edit {edit.edit} was tested before and not accepted")
        refuse_unfit(client, edit, secrets_of(client, state.set))
        _check_cost_guard(client, state)
    folder = Sets(client).folder(state.set) / "tasks"
    for task in state.sealed:
        place = folder / task.name
        if not place.is_dir() or digest_of_tree(place) != task.digest:
            raise TestRefused(
                "a sealed task has changed since it was sealed", where=str(folder),
                hint="seal a new set of new tasks",
            )  # fmt: skip


def _check_cost_guard(client: Client, state: SetRecord) -> None:
    """Refuse before the first trial what `decide` would refuse after the last one."""
    costs = {each.spent.cost_usd for each in _open_trials(client, state.set)}
    if costs == {None} and any(each.metric == "cost" for each in state.bar.guards):
        raise TestRefused(
            "the bar guards the cost, and no trial of open tasks reports one",
            where=f"set {state.set}",
            hint="use agents that report a cost, or seal a new set without this guard",
        )


def _print_plan(session: Session, client: Client, state: SetRecord) -> None:
    number = len(state.spent) + (state.running is None)
    tasks, repeats = len(state.sealed), state.bar.repeats
    price = cost_of_trial(client, state.set)
    cost = "cost unknown: `uwf improve try` measures it" if price is None else (
        f"about ${price * tasks * repeats * 2:,.2f}"
    )  # fmt: skip
    session.note(
        f"test {number} of at most {MOST_TESTS}: {tasks} tasks x {repeats} x 2 = "
        f"{tasks * repeats * 2} runs, {cost}; alpha {state.bar.level(number) * 100:.3g} %"
    )


def cost_of_trial(client: Client, name: str) -> float | None:
    """The mean cost of the trials of open tasks in US dollars; None: unknown."""
    costs = [each.spent.cost_usd for each in _open_trials(client, name)]
    known = [each for each in costs if each is not None]
    return fsum(known) / len(known) if known else None


def _open_trials(client: Client, name: str) -> Sequence[Trial]:
    """The trials of the newest run on open tasks."""
    runs = Results(client).runs()
    run = next((each for each in runs if each.name.startswith(f"{name}.open.")), None)
    return [] if run is None else Results(client).trials(run.run)


def _has_trials(client: Client, state: SetRecord) -> bool:
    """Whether the test without a verdict has a run; else nothing was spent for it."""
    if state.running is None:
        return False
    env = {"UWF_STORE": Sets(client).sealed_store(state.set), "UWF_HOME": str(client.home)}
    with Client.open(env=env, cwd=working_folder()) as sealed:
        return run_named(sealed, run_name(state)) is not None


def _begun(state: SetRecord, edit: WorkflowEdit, options: TestOptions) -> SealedTest:
    number = len(state.spent) + (state.running is None)
    return SealedTest(
        number=number, level=state.bar.level(number), edit=edit.edit, agent=options.agent,
        model=options.model, begun_at_ms=time.time_ns() // 1_000_000,
    )  # fmt: skip


def _run(
    session: Session, client: Client, state: SetRecord, edit: WorkflowEdit, options: TestOptions
) -> Sequence[Trial]:
    test = state.running
    assert test is not None
    folder = Sets(client).folder(state.set) / "tasks"
    match = Match(
        name=run_name(state), tasks=[str(folder / each.name) for each in state.sealed],
        workflows=[edit.champion, edit.challenger], repeats=state.bar.repeats,
        jobs=options.jobs, agent=test.agent, model=test.model,
    )  # fmt: skip
    env = {**session.env, "UWF_STORE": Sets(client).sealed_store(state.set)}
    with Client.open(env=env, cwd=working_folder()) as sealed:
        client.nodes.copy([edit.champion, edit.challenger], sealed.nodes)
        copy_calibrations(client, sealed)
        for ref in match.workflows:
            sealed.unattended.publish(ref, str(_folder(edit)))
        known = run_named(sealed, match.name)
        trials = [] if known is None else Results(sealed, sealed=True).trials(known.run)
        for _ in range(_TRIES):
            if trials and not any(each.state in LEFT for each in trials):
                return trials
            outcome = run_match(session, sealed, env, match)
            trials = outcome.trials
            _check_stopped(outcome, state, edit)
    return trials


def _folder(edit: WorkflowEdit) -> str:
    return edit.file.rpartition("/")[0]


def run_name(state: SetRecord) -> str:
    """The name of the run of a set's newest test: no user can type it."""
    return f"{SEALED}{state.set}:{len(state.tests)}"


def _check_stopped(outcome: RunOutcome, state: SetRecord, edit: WorkflowEdit) -> None:
    if outcome.stopped.interrupted:
        raise RunInterrupted(
            "the sealed test was interrupted; its finished trials are kept",
            hint=f"`uwf improve decide {edit.edit} --set {state.set}` runs the rest",
        )


def _decided(
    client: Client, state: SetRecord, edit: WorkflowEdit, trials: Sequence[Trial]
) -> SetRecord:
    test = state.running
    assert test is not None
    if any(each.state in LEFT for each in trials):
        raise UwfError(
            "no verdict yet: sealed trials ended with infrastructure errors",
            hint=f"`uwf improve decide {edit.edit} --set {state.set}` runs them again",
        )
    found = decide(
        state.bar, test.number, weigh_evidence(state.bar, contest_of(state, edit, trials))
    )
    accepted = found.verdict == "accepted"
    now = time.time_ns() // 1_000_000
    new = replace(test, verdict=found.verdict, why=found.why, decided_at_ms=now, **_figures(found))
    changes = opened(state) if accepted else {}
    if accepted:
        show_trials(client, state)
    after = Sets(client).append(state, "decided", tests=[*state.tests[:-1], new], **changes)
    _save_verdict(client, edit, new)
    return after


def _save_verdict(client: Client, edit: WorkflowEdit, test: SealedTest) -> None:
    edits = Edits(client)
    if edits.state(edit.edit) == "drafted" and test.verdict != "refused":
        edits.save(edit, "accepted" if test.verdict == "accepted" else "not accepted")


def contest_of(state: SetRecord, edit: WorkflowEdit, trials: Sequence[Trial]) -> Contest:
    """The trials of both sides."""
    sides = [
        [each for each in trials if each.cell.workflow == ref]
        for ref in (edit.champion, edit.challenger)
    ]
    again = [sum(max(each.attempt - 1, 0) for each in side) for side in sides]
    return Contest(
        champion=sides[0],
        edit=sides[1],
        units={each.name: each.unit for each in state.sealed},
        infra_errors=(again[0], again[1]),
    )


def _figures(found: Decision) -> dict[str, Any]:
    """Of an accepted edit alone."""
    if found.gain is None:
        return {}
    gain = found.gain
    return {"gain": gain.mean, "low": gain.low, "high": gain.high, "p": found.p}


def show_trials(client: Client, state: SetRecord) -> None:
    """Copy the sealed runs and threads of a set to the user's store: all commands show them."""
    env = {"UWF_STORE": Sets(client).sealed_store(state.set), "UWF_HOME": str(client.home)}
    results = Results(client)
    with Client.open(env=env, cwd=working_folder()) as sealed:
        hidden = Results(sealed, sealed=True)
        for run in hidden.runs():
            name = run.name.removeprefix(SEALED).replace(":", ".test.")
            if any(each.name == name for each in results.runs()):
                continue
            trials = hidden.trials(run.run)
            sealed.nodes.copy(run.workflows, client.nodes)
            for each in trials:
                _copy_thread(sealed, client, each)
            results.save_trials(trials)
            results.save_run(replace(run, name=name), trials)


def _copy_thread(sealed: Client, client: Client, trial: Trial) -> None:
    if trial.thread is None or client.nodes.name(f"@uwf/thread/{trial.thread}") is not None:
        return
    sealed.nodes.copy_thread(trial.thread, client.nodes, trial=f"{trial.run}/{trial.number}")


def open_set(client: Client, name: str) -> SetRecord:
    """Make all tasks of a set open and show its trials; its tests are spent.

    Raises:
        UnknownIdError: unknown set. UsageError: nothing is sealed.
    """
    sets = Sets(client)
    state = sets.read(name)
    if not state.sealed:
        raise UsageError(f"the set {name!r} has no sealed tasks", hint="add new tasks with --add")
    tests = [
        replace(each, verdict="refused", why=_OPENED, decided_at_ms=time.time_ns() // 1_000_000)
        if each.verdict is None
        else each
        for each in state.tests
    ]
    show_trials(client, state)
    return sets.append(state, "opened", **{**opened(state), "tests": tests})
