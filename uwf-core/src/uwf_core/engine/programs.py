"""Stage 6 for the program of a role: the last output -> its command, and the request to run it."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from uwf_core.agents.program import ProgramCall
from uwf_core.api.agent import AgentRequest, PromptParts, RunLimits
from uwf_core.engine.agents import run_limits
from uwf_core.engine.plan import HeadPosition
from uwf_core.moderator.next import start_data, template_data
from uwf_core.prompt.command import command_text, rendered_argv
from uwf_core.thread.history import body_of, output_of

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.context import Attempt, Run, Task
    from uwf_core.engine.plan import Position
    from uwf_core.workflow.definition import RoleProgram


def argv_of(store: "Store", position: "Position", task: "Task") -> tuple[str, ...]:
    """The rendered arguments of the program that a task runs.

    Raises:
        RoutingFailed: they cannot be rendered.
    """
    program = position.definition.roles[task.role].program
    assert program is not None
    return rendered_argv(task.role, program, *_contexts(store, position, task))


def _contexts(store: "Store", position: "Position", task: "Task") -> tuple[Any, ...]:
    """What the names of the templates mean: the output that led to the role, with its text, and the
    typed input. At `$START` there is no output; in the thread of a branch, that of the caller.

    A step of the role itself that waited for a person did not lead to it: what did came before.
    """
    ref, steps = task.prev, position.steps(before=task.number)
    while ref is not None:
        step = position.step(ref)
        to = step.payload["next"]
        if to["status"] == "suspended" and to["reason"] == "role":
            ref = step.payload["prev"]
            continue
        if to["status"] == "completed":
            break
        output = output_of(store, step)
        body = body_of(store, step)
        return (template_data(position.definition, output, body, position.given, steps),)
    if position.definition.branch:
        from uwf_core.engine.fan_out import program_contexts  # not for every workflow

        return program_contexts(position.given)
    return (start_data(position.definition, position.given, steps),)


def program_request(run: "Run", attempt: "Attempt") -> AgentRequest:
    """Stage 6: the request to run the program of a role. Its prompt is the command.

    Raises:
        RoutingFailed: the arguments cannot be rendered.
    """
    engine, task = run.engine, attempt.task
    program = run.definition.roles[task.role].program
    assert program is not None
    argv = argv_of(engine.store, HeadPosition(run, attempt.head), task)
    command = engine.redactor.text(command_text(argv))
    return AgentRequest(
        thread=attempt.head.thread,
        role=task.role,
        step_number=task.number,
        cwd=task.cwd,
        options=ProgramCall(argv, program.statuses),
        limits=_limits(run, program),
        env={**engine.agent_env(()), **program.env, "UWF_ATTEMPT": attempt.marker},
        cancel=run.cancel,
        on_process=attempt.progress.process,
        purpose=task.purpose,  # type: ignore[arg-type]
        prompt=command,
        parts=PromptParts(instruction=command),
        schema=run.definition.roles[task.role].schema,
    )


def _limits(run: "Run", program: "RoleProgram") -> RunLimits:
    """A program may be silent for as long as it may run."""
    return replace(run_limits(run.engine, program.timeout), idle_seconds=None)
