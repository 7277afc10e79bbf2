"""Bugs of summaries in place of older steps."""

from tests.mutants.mutant import Mutant

_COMPACT = "tests/core/engine/test_compact.py"

COMPACTION = (
    Mutant(
        "compaction",
        "a summary of a replaced step is still used",
        "thread/summaries.py",
        " and step_at(store, newest, number).ref == step.ref:",
        ":",
        f"{_COMPACT}::test_a_summary_does_not_hold_for_a_step_that_was_replaced",
    ),
    Mutant(
        "compaction",
        "a session that continues gets the summary too",
        "engine/assemble.py",
        "summary = None if newest else position.summary(task)",
        "summary = position.summary(task)",
        f"{_COMPACT}::test_a_session_that_continues_gets_every_step_that_it_does_not_know",
    ),
    Mutant(
        "compaction",
        "a replay uses summaries that came later",
        "replay/position.py",
        'and each.payload["seq"] < self._seq',
        "",
        f"{_COMPACT}::test_a_new_session_gets_the_summary_in_place_of_older_steps",
    ),
    Mutant(
        "compaction",
        "a fork does not take the summary over",
        "engine/fork.py",
        "    if found is None:\n        return head\n",
        "    return head\n",
        f"{_COMPACT}::test_a_fork_takes_over_the_summary_that_holds_at_its_step",
    ),
    Mutant(
        "compaction",
        "an agent compacts a thread at its limit",
        "threads/compact.py",
        "    _check_limits(engine, span.head)\n",
        "",
        f"{_COMPACT}::test_at_a_limit_a_person_can_compact_and_an_agent_cannot",
    ),
)
