"""Bugs of the git worktrees of threads."""

from tests.mutants.mutant import Mutant

_GIT = "tests/core/files/test_worktree_git.py"
_REPORTS = "tests/reports/test_worktrees.py"
_LOST = "tests/reports/test_lost_in_worktrees.py"
_THREADS = "tests/core/engine/test_worktrees.py"

WORKTREES = (
    Mutant(
        "worktrees",
        "the state of a folder is taken with the index of the user",
        "files/worktree.py",
        '        env = {"GIT_INDEX_FILE": copy, **NO_LOCKS}\n        _add_all(top',
        "        env = {**NO_LOCKS}\n        _add_all(top",
        f"{_GIT}::test_a_worktree_leaves_all_else_in_git_as_it_is",
    ),
    Mutant(
        "worktrees",
        "repositories in untracked folders are committed",
        "files/worktree.py",
        ' if each.endswith(b"/"))]',
        " if False)]",
        f"{_GIT}::test_a_worktree_leaves_all_else_in_git_as_it_is",
    ),
    Mutant(
        "worktrees",
        "rm removes a branch with commits that no other one has",
        "files/worktree.py",
        "    is_known = _is_in_others(folder, branch, base)\n",
        "    is_known = True\n",
        f"{_THREADS}::test_rm_removes_a_worktree_only_if_nothing_is_lost",
    ),
    Mutant(
        "worktrees",
        "an edge that shares gets worktrees all the same",
        "engine/worktree.py",
        "    return not edge.shared and _WORKTREE in",
        "    return _WORKTREE in",
        f"{_THREADS}::test_branches_of_an_edge_that_shares_work_in_the_folder_of_the_caller",
    ),
    Mutant(
        "worktrees",
        "a branch of the user is removed for a worktree",
        "files/worktree.py",
        "    conflict = None if is_interrupted else conflict_at(tree, folder, branch)\n",
        "    conflict, is_interrupted = None, True\n",
        f"{_GIT}::test_what_others_made_is_never_removed_for_a_worktree",
    ),
    Mutant(
        "worktrees",
        "an interrupted worktree stays in the way",
        "files/worktree.py",
        "            _clear_worktree(tree, folder, branch)\n",
        "            pass\n",
        "tests/crash/test_kill_worktrees.py::"
        "test_a_branch_that_is_killed_goes_on_with_one_worktree",
    ),
    Mutant(
        "worktrees",
        "a patch obeys the user's settings for diffs",
        "process/git.py",
        '_WORDS = ("git", *(word for each in _NEUTRAL for word in ("-c", each)))',
        '_WORDS = ("git", *(word for each in _NEUTRAL[:2] for word in ("-c", each)))',
        f"{_REPORTS}::test_a_printed_patch_applies_whatever_git_is_set_to",
    ),
    Mutant(
        "worktrees",
        "git works in another folder than the worktree",
        "files/worktree_place.py",
        "    if _named(folder) == wanted:\n",
        "    if True:\n",
        f"{_REPORTS}::test_work_in_a_worktree_of_a_submodule_arrives",
    ),
    Mutant(
        "worktrees",
        "an unfinished merge is committed",
        "files/unfinished.py",
        "    found = operations(folder)\n",
        "    found = list[str]()\n",
        f"{_REPORTS}::test_an_unfinished_operation_is_never_done_and_never_committed",
    ),
    Mutant(
        "worktrees",
        "a step is done although its files lie in a nested repository",
        "files/unfinished.py",
        "    return found + _nested(folder)\n",
        "    return found\n",
        f"{_REPORTS}::test_work_that_the_branch_does_not_get_fails_the_step",
    ),
    Mutant(
        "worktrees",
        "work in the stash is not named",
        "files/surroundings.py",
        "        if each not in before.stashes and not _is_of_another(text, branch)\n",
        "        if False\n",
        f"{_REPORTS}::test_work_in_the_stash_is_named_with_the_command_that_gets_it",
    ),
    Mutant(
        "worktrees",
        "a file that an agent hid from git is lost",
        "files/worktree.py",
        "        _show_hidden(folder, env)\n",
        "",
        f"{_LOST}::test_a_change_that_git_was_told_not_to_see_is_seen",
    ),
    Mutant(
        "worktrees",
        "uwf commits to whatever branch an agent left",
        "files/worktree.py",
        "    _go_to_branch(folder, branch)\n",
        "",
        f"{_LOST}::test_uwf_commits_to_no_branch_of_the_user",
    ),
    Mutant(
        "worktrees",
        "a change of a file that you do not track is not noticed",
        "files/surroundings.py",
        '"--untracked-files=all", "--ignored=matching"',
        '"--untracked-files=normal"',
        f"{_REPORTS}::test_what_an_agent_changes_outside_is_a_notice",
    ),
    Mutant(
        "worktrees",
        "rm removes ignored files",
        "files/only_copies.py",
        "    if ignored:\n",
        "    if False:\n",
        f"{_REPORTS}::test_rm_keeps_what_exists_nowhere_else_and_its_command_works",
    ),
)
