"""One step of a thread: the path of the data, stage by stage (the table in the README).

Read `run_step` from top to bottom; stages 1 to 4 made the thread. Steps that other threads play
(calls, fan-outs) branch off before, in `run.py`: see `children.py`.
"""

from typing import TYPE_CHECKING

from uwf_core.engine.advance import (
    advance,
    finished_event,
    save_failure,
    save_question,
    save_refused,
)
from uwf_core.engine.agents import agent_for
from uwf_core.engine.assemble import assemble, notice_tool_list, notice_tools
from uwf_core.engine.attempt import (
    check_surroundings,
    end_attempt,
    record_files,
    save_prompt,
    withdraw,
)
from uwf_core.engine.context import Attempt
from uwf_core.engine.converse import correct, extract, keep, run_agent
from uwf_core.engine.plan import moderate
from uwf_core.engine.record import ends_thread, record
from uwf_core.errors import (
    AgentFailure,
    AgentInterrupted,
    AgentStuck,
    InternalFailure,
    NeedsAnswer,
    TimedOut,
    UsageError,
    UwfError,
)

if TYPE_CHECKING:
    from uwf_core.engine.context import Intent, Run


def run_step(run: "Run", intent: "Intent") -> Attempt:
    """Take one step from the head of the run, or store why it could not be taken.

    Raises:
        RoutingFailed: the graph leads nowhere; nothing is stored.
        LimitReached: a limit leaves no room for it; nothing is stored.
        UsageError: the agent is unknown, blocked, incompatible, claimed twice or has invalid
            options, or the configuration names something else that is unknown; nothing is stored.
        StoreError: the store failed; the head has not moved.
    """
    engine, attempt = run.engine, Attempt(run.head, by_person=intent.kind != "go")
    attempt.task = moderate(run, intent)  # 5
    attempt.choice = agent_for(run, attempt.task)
    check_surroundings(run, attempt)
    run.watch.load()  # the time of the step begins afterwards
    try:
        role = run.definition.roles[attempt.task.role]
        agent = run.plugins.agent(attempt.choice, role.timeout)
        attempt.request = assemble(run, attempt, agent)  # 6
        save_prompt(run, attempt)
        if role.tools is not None:
            notice_tools(run, role, agent)
        reply = run_agent(run, attempt, agent)  # 7
        attempt.reply = keep(engine.redactor, reply)  # 8
        while problems := extract(run, attempt):  # 9
            reply = correct(run, attempt, agent, problems)
            attempt.reply = keep(engine.redactor, reply)
        if attempt.reply.tool_list is not None:
            notice_tool_list(run, attempt, attempt.reply.tool_list)
        record_files(run, attempt)
        # The commit that records the result of a call waits for the disk for both.
        with engine.store.batch(durable=not (run.is_call and ends_thread(run, attempt))):
            end_attempt(run, attempt)
            attempt.step = record(run, attempt)  # 10
            attempt.head = advance(run, attempt)  # 11
    except NeedsAnswer as question:
        return save_question(run, attempt, question)
    except AgentFailure as failure:
        return save_failure(run, attempt, failure)
    except AgentStuck as stuck:
        attempt.error = stuck
        kind = AgentInterrupted if run.cancel.is_set() else TimedOut
        return save_failure(run, attempt, kind(stuck.message))
    except UsageError:
        withdraw(run, attempt)
        raise
    except UwfError as error:
        save_refused(run, attempt, error)
        raise
    except Exception as error:
        engine.report_fault(error)
        return save_failure(run, attempt, InternalFailure(f"{type(error).__name__}: {error}"))
    run.watch.event(finished_event(engine, attempt))
    return attempt
