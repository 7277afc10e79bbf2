"""Bugs of the git worktrees of threads."""

from tests.mutants.mutant import Mutant

_GIT = "tests/core/files/test_worktree_git.py"
_THREADS = "tests/core/engine/test_worktrees.py"

WORKTREES = (
    Mutant(
        "worktrees",
        "the state of a folder is taken with the index of the user",
        "files/worktree.py",
        '        env = {"GIT_INDEX_FILE": copy, **_NO_LOCKS}\n        _add_all(top',
        "        env = {**_NO_LOCKS}\n        _add_all(top",
        f"{_GIT}::test_a_worktree_leaves_all_else_in_git_as_it_is",
    ),
    Mutant(
        "worktrees",
        "repositories in untracked folders are committed",
        "files/worktree.py",
        ' if each.endswith(b"/")]',
        " if False]",
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
)
