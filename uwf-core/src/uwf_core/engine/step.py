"""One step of a thread: the path of the data, stage by stage (the table in the README).

Read `run_step` from top to bottom; stages 1 to 4 made the thread.
"""

from typing import TYPE_CHECKING

from uwf_core.engine.advance import advance, fail, finished_event, record, wait_for_answer
from uwf_core.engine.brief import assemble
from uwf_core.engine.converse import Conversation
from uwf_core.engine.plan import Intent
from uwf_core.engine.results import StepEnd
from uwf_core.engine.running import Ending, opened_agent
from uwf_core.errors import (
    AgentFailure,
    AgentStuck,
    InternalFailure,
    NeedsAnswer,
    UsageError,
    UwfError,
)
from uwf_core.thread.head import Head

if TYPE_CHECKING:
    from uwf_core.engine.running import Run


def run_step(run: "Run", head: Head, intent: Intent) -> StepEnd:
    """Take one step from `head`, or store why it could not be taken.

    Raises:
        RoutingFailed: the graph does not say what comes next; nothing is stored.
        UsageError: the agent is unknown, blocked, incompatible, claimed twice or has wrong options,
            or the configuration names something else that is not there; nothing is stored.
        StoreError: the store failed; the head has not moved.
    """
    task = run.moderate(head, intent)  # 5
    choice = run.choose_agent(head, task)
    ending = Ending(run, head, task, choice)
    try:
        with opened_agent(run.engine, choice) as agent:
            briefing = assemble(ending, agent)  # 6
            talk = ending.listen(Conversation(run.engine, agent, ending.progress, briefing))
            talk.run()  # 7
            talk.keep()  # 8
            while problems := talk.extract():  # 9
                talk.correct(problems)
                talk.keep()
        with run.engine.store.transaction():
            told = ending.told()
            recorded = record(run, told)  # 10
            end = advance(run, told, recorded)  # 11
    except NeedsAnswer as question:
        return wait_for_answer(run, ending.told(), question)
    except AgentFailure as failure:
        return fail(run, ending.told(), failure)
    except AgentStuck as stuck:
        return fail(run, ending.told(), ending.why_stuck(stuck))._replace(error=stuck)
    except UsageError:
        ending.withdraw()
        raise
    except UwfError:
        raise
    except Exception as error:
        run.engine.report_fault(error)
        return fail(run, ending.told(), InternalFailure(f"{type(error).__name__}: {error}"))
    run.watch.event(finished_event(run.engine, told, recorded.step.ref))
    return end
