"""Prepares a run from its request: every error in it is reported here, before the first trial."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, cast

from uwf_core import __version__ as engine_version
from uwf_core.client import Client
from uwf_core.errors import PayloadError, UsageError, UwfError
from uwf_core.ids import Ref
from uwf_eval import __version__
from uwf_eval.calibration.weigh import check_identities, check_weights, run_judges, weighed
from uwf_eval.plan.matrix import Matrix, Published, planned
from uwf_eval.records import Budget, Run, RunJudge, RunTask, Trial
from uwf_eval.run.folder import RunFolder
from uwf_eval.task.check import INPUT_HINT, workflow_file
from uwf_eval.task.load import find_task, take_task, task_top
from uwf_eval.task.model import RECORDED, Case, Source, Task, different_inputs, fixture_digest
from uwf_eval.task.read import Origin, read_task
from uwf_eval.task.recorded import replace_cases, tasks_of, write_task
from uwf_eval.task.tree import digest_of_tree
from uwf_eval.trial.environment import agent_word
from uwf_eval.trial.recorded import files_of, word_of

if TYPE_CHECKING:
    from uwf_core.client import StepInput


@dataclass(frozen=True, kw_only=True)
class Request:
    """The request of a run.

    Attributes:
        tasks, agents, models, workflows: the arguments of the command and its options.
        steps: recorded steps, in place of the cases of `tasks`; without tasks, those of each role
            are one. files: a folder in place of their recorded files.
        name: of the run. command: the arguments of `uwf-eval`, for reports.
        cwd: the caller's folder.
    """

    tasks: Sequence[str]
    agents: Sequence[str] = ()
    models: Sequence[str] = ()
    workflows: Sequence[str] = ()
    repeat: int = 1
    jobs: int = 1
    seed: int = 0
    budget: Budget = field(default_factory=Budget)
    name: str = ""
    command: Sequence[str] = ()
    steps: "Sequence[StepInput]" = ()
    files: str | None = None
    cwd: Path


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A run that is ready to start: the copies of its tasks, its trials, and the base of relative
    paths in `--agent`; `notes` are for the user.
    """

    run: Run
    tasks: Sequence[Task]
    trials: Sequence[Trial]
    cwd: Path
    notes: Sequence[str] = ()


def prepare(client: Client, request: Request, run: str, folder: RunFolder) -> Prepared:
    """Prepare a new run. Warnings of its tasks are left to `uwf eval check`.

    Args:
        client: of the main store. run: the run's id.
        folder: for the copies of the tasks.

    Raises:
        UsageError: unknown task, workflow, agent or model.
        DefinitionError: a task or a workflow is not valid.
        TreeError: a task cannot be copied.
    """
    tasks = list(_tasks(client, request, folder))
    judges = {task.name: run_judges(client, task) for task in tasks}
    for task in tasks:
        check_weights(task, judges[task.name])
    agents: Sequence[str | None] = list(dict.fromkeys(request.agents)) or [None]
    models: Sequence[str | None] = list(dict.fromkeys(request.models)) or [None]
    _check_choices(client, request, tasks, agents)
    workflows = _workflows(client, request, tasks)
    _check_steps(client, request, tasks, agents, workflows)
    matrix = Matrix(
        tasks=tasks,
        workflows=workflows,
        agents=agents,
        models=models,
        repeat=request.repeat,
        fixtures={
            (task.name, case.name): _files_digest(client, task, case)
            for task in tasks
            for case in task.cases
        },
    )
    return Prepared(
        run=_run(request, run, matrix, judges),
        tasks=[weighed(each, judges[each.name]) for each in tasks],
        trials=planned(matrix, run),
        cwd=request.cwd,
    )


def _run(
    request: Request, run: str, matrix: Matrix, judges: Mapping[str, Sequence[RunJudge]]
) -> Run:
    published = [each for group in matrix.workflows.values() for each in group]
    return Run(
        run=run,
        name=request.name,
        started_at_ms=time.time_ns() // 1_000_000,
        finished_at_ms=None,
        seed=request.seed,
        repeat=request.repeat,
        jobs=request.jobs,
        tasks=[run_task(each, judges[each.name]) for each in matrix.tasks],
        workflows=list(dict.fromkeys(each.ref for each in published)),
        agents=matrix.agents,
        models=matrix.models,
        trials=matrix.size(),
        budget=request.budget,
        command=request.command,
        eval_version=__version__,
        engine_version=engine_version,
    )


def run_task(task: Task, judges: Sequence[RunJudge]) -> RunTask:
    """What a run stores of a task."""
    own = [each.name for each in fields(RunTask) if each.name != "judges"]
    return RunTask(**{name: getattr(task, name) for name in own}, judges=judges)


def _tasks(client: Client, request: Request, folder: RunFolder) -> Iterator[Task]:
    if request.steps and not request.tasks:
        yield from _recorded_tasks(client, request, folder)
        return
    seen: dict[str, str] = {}
    for index, word in enumerate(request.tasks):
        found = find_task(word, client, request.cwd)
        edit = partial(replace_cases, steps=request.steps, files=_files(request))
        task = take_task(
            found, folder.task(index), client, edit if request.steps else None
        ).require()
        if task.name in seen:
            raise UsageError(
                f"{seen[task.name]!r} and {word!r} have the same name {task.name!r}",
                hint="list each task once; use `--repeat N` for more trials",
            )
        seen[task.name] = word
        yield task


def _files_digest(client: Client, task: Task, case: Case) -> str:
    """The digest of the files with which a trial of the case begins."""
    if case.step is not None:
        given = client.unattended.step_input(case.step)
        if files_of(given, task, case) == "recorded":
            return str(given.tree)
    return fixture_digest(task, case)


def _recorded_tasks(client: Client, request: Request, folder: RunFolder) -> Iterator[Task]:
    for index, (name, steps) in enumerate(tasks_of(request.steps).items()):
        target = folder.task(index)
        write_task(target, name, steps, _files(request))
        origin = Origin(target, "folder", str(request.cwd), digest_of_tree(target))
        yield read_task(origin, client).require()


def _files(request: Request) -> Path | None:
    return None if request.files is None else Path(request.cwd, request.files)


def _check_steps(
    client: Client,
    request: Request,
    tasks: Sequence[Task],
    agents: Sequence[str | None],
    workflows: Mapping[str, Sequence[Published]],
) -> None:
    """Check that each agent can make each recorded step again, in each workflow."""
    for task in tasks:
        steps = [client.unattended.step_input(c.step) for c in task.cases if c.step is not None]
        for given, workflow, agent in product(steps, workflows[task.name], agents):
            word = word_of(given, task.agent if agent is None else agent, task, request.cwd)
            own = None if workflow.ref == RECORDED else Ref(workflow.ref)
            client.unattended.check_step(given, own, word)


def _check_choices(
    client: Client, request: Request, tasks: Sequence[Task], agents: Sequence[str | None]
) -> None:
    """Check that the agents and models of the trials exist."""
    words = {
        agent_word(task.agent if word is None else word, task, request.cwd)
        for task in tasks
        for word in agents
        if not (word is None and task.agent is None and _is_recorded(task))
    }
    installation = client.installation
    for word in sorted(words, key=str):
        installation.check_agent(word, request.cwd)
        if request.models and not installation.takes_model(word, request.cwd):
            for model in request.models:
                installation.check_model(model)


def _workflows(
    client: Client, request: Request, tasks: Sequence[Task]
) -> Mapping[str, Sequence[Published]]:
    """The workflows of each task: those of the request, else its own."""
    if not request.workflows:
        return {task.name: [_own_workflow(client, task, request.cwd)] for task in tasks}
    return {
        task.name: _distinct(
            [_ready(client, task, each, each, request.cwd) for each in request.workflows]
        )
        for task in tasks
    }


def _is_recorded(task: Task) -> bool:
    """Whether every case is a recorded step."""
    return all(case.step is not None for case in task.cases)


def _distinct(published: Sequence[Published]) -> Sequence[Published]:
    by_ref = {each.ref: each for each in published}
    if len(by_ref) < len(published):
        words = ", ".join(repr(each.word) for each in published)
        raise UsageError(
            f"two of the workflows {words} are the same", hint="list each version once"
        )
    return published


def _own_workflow(client: Client, task: Task, cwd: Path) -> Published:
    """A task's own workflow."""
    shown = task.workflow or RECORDED
    return _ready(client, task, str(workflow_file(task) or shown), shown, cwd)


def _ready(client: Client, task: Task, word: str, shown: str, cwd: Path) -> Published:
    """A workflow that can run in every case of a task without a person; its programs are allowed if
    the user trusts the task's folder. `recorded` is that of each recorded step.
    """
    if word == RECORDED and _is_recorded(task):
        return Published(word=shown, ref=RECORDED, name=RECORDED)
    for _, given in different_inputs(task):
        try:
            client.unattended.check(word, given)
        except PayloadError as error:
            raise PayloadError(error.message, where=f"task {task.name}", hint=INPUT_HINT) from error
    folder = Path(task.place) if task.source == "folder" else cwd
    ref = client.unattended.publish(word, str(folder))
    return Published(word=shown, ref=ref, name=client.nodes.get(ref)["name"])


def reload_tasks(run: Run, folder: RunFolder, env: Mapping[str, str]) -> Sequence[Task]:
    """Read the tasks of a resumed run from its copies; their judges keep the weights of the run.

    Raises:
        UwfError: a copy is missing or was changed. UsageError: the model of a judge was changed.
    """
    tasks = [_reloaded(known, folder.task(index)) for index, known in enumerate(run.tasks)]
    if any(known.judges for known in run.tasks):
        # Trials use the configuration of the folder in which the run was started.
        with Client.open(env=env, cwd=folder.cwd) as there:
            for known, task in zip(run.tasks, tasks, strict=True):
                check_identities(known, run_judges(there, task))
    return [weighed(task, known.judges) for known, task in zip(run.tasks, tasks, strict=True)]


def _reloaded(known: RunTask, folder: Path) -> Task:
    if not folder.is_dir():
        raise _unusable(known, folder, "is missing")
    top = task_top(folder, known.place)
    digest = digest_of_tree(top)
    if digest != known.digest:
        raise _unusable(known, top, "was changed")
    origin = Origin(top, cast(Source, known.source), known.place, digest)
    return read_task(origin).require()


def _unusable(known: RunTask, folder: Path, why: str) -> UwfError:
    message = f"the run's copy of task {known.name!r} {why}"
    return UwfError(message, where=str(folder), hint="start a new run with `uwf eval run`")
