"""Bugs of threads that call threads."""

from tests.mutants.mutant import Mutant

_ATTACKED = "tests/core/engine/test_calls_attacked.py"
_CALLS = "tests/core/engine/test_calls.py"

CALLS = (
    Mutant(
        "calls",
        "a thread that was called again redoes what is recorded",
        "thread/calls.py",
        "    if head.state.is_entered and not head.at_start:\n",
        "    if False:\n",
        f"{_ATTACKED}::test_a_thread_that_was_just_called_again_rejects_poke",
    ),
    Mutant(
        "calls",
        "a completed thread with an open call cannot be cancelled",
        "threads/cancel.py",
        "    head = head_at_call(engine.store, read_head(engine.store, thread))\n",
        "    head = read_head(engine.store, thread)\n",
        f"{_ATTACKED}::test_a_completed_root_whose_resume_leads_to_a_call_can_be_resumed_and_cancelled",
    ),
    Mutant(
        "calls",
        "wait looks at no thread below",
        "threads/control.py",
        "        below = open_below(engine.store, thread)\n        if any",
        "        below = ()\n        if any",
        f"{_ATTACKED}::test_wait_waits_for_a_called_thread_that_another_process_runs",
    ),
    Mutant(
        "calls",
        "--cwd of one command stays with a call",
        "engine/location.py",
        "    return folder if run.cwd is None else moved_folder(folder, run.cwd, ",
        "    return folder if True else moved_folder(folder, run.cwd, ",
        f"{_ATTACKED}::test_cwd_moves_the_folders_of_called_threads_for_that_command_only",
    ),
    Mutant(
        "calls",
        "--cwd does not reach the thread below",
        "engine/child_run.py",
        "    return run.cwd and moved_folder(",
        "    return None and moved_folder(",
        f"{_ATTACKED}::test_cwd_moves_the_folders_of_called_threads_for_that_command_only",
    ),
    Mutant(
        "calls",
        "a resume through the root forgets the steps below",
        "engine/run.py",
        '        outcome.document["steps"][:0] = options.earlier\n',
        "",
        f"{_ATTACKED}::test_a_background_resume_through_the_root_is_what_wait_reports",
    ),
    Mutant(
        "calls",
        "a call is still open after its result is recorded",
        "engine/call_result.py",
        "        gone, to = [call.variable for call in calls], head.ref\n",
        "        gone, to = [call.variable for call in calls[:0]], head.ref\n",
        f"{_ATTACKED}::test_a_resumed_root_tells_the_called_thread_what_the_person_said",
    ),
    Mutant(
        "calls",
        "what a thread used before a call counts once more",
        "thread/limits.py",
        '        "usage": subtract_usage(now["usage"], before["usage"]),\n',
        '        "usage": now["usage"],\n',
        f"{_CALLS}::test_a_role_that_calls_again_continues_the_same_thread",
    ),
    Mutant(
        "calls",
        "a fork continues the thread that its parent called",
        "engine/call_step.py",
        "    if known.inherited:\n",
        "    if False:\n",
        f"{_ATTACKED}::test_a_fork_before_at_and_after_a_call_ends_and_leaves_the_first_alone",
    ),
    Mutant(
        "calls",
        "a call is forgotten before its result is stored",
        "engine/call_result.py",
        "    with store.transaction():\n        if children:\n",
        "    for call in calls:\n        store.delete_variable(call.variable)\n"
        "    with store.transaction():\n        if children:\n",
        "row: crash --short",
    ),
    Mutant(
        "calls",
        "the end of a call does not wait for the disk",
        "engine/call_result.py",
        "    with store.transaction():\n        if children:\n",
        "    with store.transaction(durable=False):\n        if children:\n",
        "row: power --short --scene calls",
    ),
)
