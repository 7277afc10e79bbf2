"""Bugs of branches that run in parallel."""

from tests.mutants.mutant import Mutant

_BRANCHES = "tests/core/engine/test_branches.py"
_APART = "tests/core/engine/test_branches_apart.py"
_BUDGETS = "tests/core/engine/test_branch_budgets.py"

BRANCHES = (
    Mutant(
        "branches",
        "branches are in the order of their threads",
        "thread/calls.py",
        "    return calls if len(calls) < 2 else sorted(calls, key=lambda call: call.place)\n",
        "    return calls\n",
        f"{_APART}::test_named_branches_stay_in_the_order_of_the_file_whatever_their_threads_are",
    ),
    Mutant(
        "branches",
        "branches begin one after the other",
        "engine/call_step.py",
        "        stack.enter_context(store.transaction(durable=run.head.is_queued))\n",
        "",
        f"{_APART}::test_all_branches_begin_or_none",
    ),
    Mutant(
        "branches",
        "the first branch that ends is the result of all",
        "engine/children.py",
        "        if not self.have_ended():\n            return None\n",
        "        heads = {call: self._head(call.child) for call in self._calls}\n"
        "        self._calls = [call for call, head in heads.items() if _has_ended(head)]\n",
        f"{_APART}::test_a_branch_that_fails_stops_no_other_and_exec_then_runs_only_what_is_left",
    ),
    Mutant(
        "branches",
        "a branch that another process runs is run as well",
        "engine/children.py",
        "        if holder_of(engine.store, head.thread) is not None:\n",
        "        if False:\n",
        f"{_APART}::test_a_round_beside_a_branch_that_runs_elsewhere_is_done",
    ),
    Mutant(
        "branches",
        "a round is busy if one branch runs elsewhere",
        "engine/children.py",
        '        if state.status != "running" or self._has_all_steps():\n',
        '        if state.status != "running":\n',
        f"{_APART}::test_a_round_beside_a_branch_that_runs_elsewhere_is_done",
    ),
    Mutant(
        "branches",
        "a count of steps starts as many branches as may run",
        "engine/children.py",
        "        room = min(self._left, ",
        "        room = max(0, ",
        f"{_APART}::test_a_count_is_a_number_of_leaf_steps",
    ),
    Mutant(
        "branches",
        "an answered branch waits for the end of the others",
        "engine/children.py",
        "        return [read_head(store, each).state.seq for each in threads]\n",
        "        return [0 for _ in threads]\n",
        f"{_APART}::test_what_is_left_of_an_answered_branch_runs_in_the_process_of_the_root",
    ),
    Mutant(
        "branches",
        "a branch that a reservation held up waits for the next exec",
        "engine/children.py",
        "        if self._is_round or self._is_call or not (is_answered or is_limited):\n",
        "        if self._is_round or self._is_call or not is_answered:\n",
        f"{_BUDGETS}::test_a_branch_that_a_reservation_holds_up_runs_once_another_has_used_less",
    ),
    Mutant(
        "branches",
        "what one branch used is what all used",
        "engine/call_result.py",
        "        total = ledger_sum(total, each.ledger)\n",
        "        total = each.ledger\n",
        f"{_BRANCHES}::test_what_branches_used_counts_once_in_their_caller",
    ),
    Mutant(
        "branches",
        "a cancelled branch is called again",
        "thread/branches.py",
        '            goes_on = branch["status"] != CANCELLED\n',
        "            goes_on = True\n",
        f"{_APART}::test_named_branches_stay_in_the_order_of_the_file_whatever_their_threads_are",
    ),
    Mutant(
        "branches",
        "at the depth limit the role is forgotten",
        "engine/call_step.py",
        "    reached = Reached(depth, role.name, ",
        '    reached = Reached(depth, state.current_role or "", ',
        f"{_BRANCHES}::test_branches_beyond_the_depth_suspend_the_thread",
    ),
    Mutant(
        "branches",
        "the list of a fan-out has no limit",
        "moderator/branches.py",
        "    if len(items) > most:\n",
        "    if False:\n",
        f"{_BRANCHES}::test_more_items_than_allowed_fail_before_any_thread_exists",
    ),
    Mutant(
        "branches",
        "--agent does not reach the branches",
        "engine/child_run.py",
        "own = run.options._replace(count=count,",
        "own = run.options._replace(agent=None, count=count,",
        f"{_BRANCHES}::test_the_agent_of_one_command_plays_the_branches_too",
    ),
    Mutant(
        "branches",
        "each branch looks at all others to know whether it is open",
        "thread/calls.py",
        "    if store.variables(call_name(caller.thread, caller.number, state.thread)):\n",
        "    every = calls_of(store, ThreadId(caller.thread))\n"
        "    if state.thread in [call.child for call in every]:\n",
        f"{_BRANCHES}::test_showing_many_branches_takes_time_in_proportion_to_their_number",
    ),
)
