"""Bugs of what reads recorded branches."""

from tests.mutants.mutant import Mutant

_REPLAY = "tests/core/replay/test_branches.py"
_STORED = "tests/core/engine/test_bundles_of_branches.py"
_DIFF = "tests/explain/test_diff_of_branches.py"
_WHY = "tests/explain/why/test_branches.py"

RECORDED_BRANCHES = (
    Mutant(
        "recorded branches",
        "a replay believes the recorded joint result",
        "replay/branches.py",
        "    if not same_value(joined, joint):\n",
        "    if False:\n",
        f"{_REPLAY}::test_a_joint_result_that_its_branches_did_not_deliver_is_different",
    ),
    Mutant(
        "recorded branches",
        "a replay gives branches their recorded prompts",
        "replay/branches.py",
        "        if not same_text(text, now):\n",
        "        if False:\n",
        f"{_REPLAY}::test_one_other_prompt_leaves_the_other_named_branches",
    ),
    Mutant(
        "recorded branches",
        "a replay takes other branches for the recorded ones",
        "replay/branches.py",
        '    if recorded != now:\n        yield Difference("branches"',
        '    if False:\n        yield Difference("branches"',
        f"{_REPLAY}::test_another_order_of_named_branches_is_different",
    ),
    Mutant(
        "recorded branches",
        "a replay does not compare the number of a branch with its thread",
        "replay/calls.py",
        '"index": called.place, ',
        "",
        f"{_REPLAY}::test_branches_that_are_not_those_of_their_threads_are_different",
    ),
    Mutant(
        "recorded branches",
        "the cause of a change after branches has no place in the file",
        "replay/causes.py",
        '    if keys[0] != "graph" or len(keys) < 2 or "/" not in keys[1]:\n',
        "    if True:\n",
        f"{_REPLAY}::test_the_prompt_after_a_fan_out_has_its_place_in_then",
    ),
    Mutant(
        "recorded branches",
        "verify does not compare what a fan-out records of a branch",
        "thread/links.py",
        "    if not wrong:\n        return None\n",
        "    if True:\n        return None\n",
        f"{_STORED}::test_a_branch_that_its_caller_records_otherwise_is_reported",
    ),
    Mutant(
        "recorded branches",
        "the lost name of a cancelled branch is not written again",
        "maintenance/verify_calls.py",
        'child.state.status == "cancelled" and called["index"] is None',
        'child.state.status == "cancelled"',
        f"{_STORED}::test_the_lost_name_of_an_open_branch_is_reported_and_written_again",
    ),
    Mutant(
        "recorded branches",
        "an import under a new id takes branches that are not recorded",
        "maintenance/import_bundle.py",
        " and head.thread not in opened",
        "",
        f"{_STORED}::test_a_renamed_root_leaves_its_open_branches_and_takes_recorded_ones",
    ),
    Mutant(
        "recorded branches",
        "a diff calls a divergence in a branch one of another branch",
        "uwf-explain/src/uwf_explain/comparison/placed.py",
        'f"{path}/{call.key}/"',
        'f"{path}/"',
        f"{_DIFF}::test_the_first_divergence_is_found_in_its_branch",
    ),
    Mutant(
        "recorded branches",
        "a page hides open calls",
        "uwf-explain/src/uwf_explain/explanation/page.py",
        "    statements += open_statements(thread)\n",
        "",
        f"{_WHY}::test_an_open_call_of_a_workflow_is_shown",
    ),
    Mutant(
        "recorded branches",
        "a page gives no reason for a cancelled branch",
        "uwf-explain/src/uwf_explain/explanation/branches.py",
        "    if cancelled:\n",
        "    if False:\n",
        f"{_WHY}::test_a_cancelled_branch_and_open_branches_are_shown",
    ),
)
