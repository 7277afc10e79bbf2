"""Bugs of recorded and of delivered files."""

from tests.mutants.mutant import Mutant

_SNAPSHOTS = "tests/core/files/test_snapshots.py"
_GIT = "tests/core/process/test_git.py"
_HOSTILE = "tests/core/files/test_hostile_folders.py"
_SAFELY = "tests/core/files/test_recorded_safely.py"
_KEEPING = "tests/core/files/test_keeping.py"
_DELIVERY = "tests/core/files/test_delivery_attacked.py"
_POWER = "row: power --scene recorded --short"

RECORDED_FILES = (
    Mutant(
        "recorded files",
        "a step is recorded before its files are on the disk",
        "files/incoming.py",
        "        for path in new:\n            sync(path)\n",
        "",
        _POWER,
    ),
    Mutant(
        "recorded files",
        "the names of packs are not on the disk when a step is recorded",
        "files/incoming.py",
        "        sync_names(self.repository.packs)\n",
        "",
        _POWER,
    ),
    Mutant(
        "recorded files",
        "the index of a thread is believed although it is damaged",
        "files/index.py",
        "    checksum = sha256(data[:-_CHECKSUM_BYTES]).digest()\n",
        "    checksum = bytes(data[-_CHECKSUM_BYTES:])\n",
        f"{_SAFELY}::test_a_damaged_index_hides_no_change",
    ),
    Mutant(
        "recorded files",
        "damaged attributes stay, by which git changes bytes",
        "files/repository.py",
        "    _repair(path)\n",
        "",
        f"{_SAFELY}::test_damaged_attributes_change_no_bytes",
    ),
    Mutant(
        "recorded files",
        "a collection deletes what is within the grace period",
        "files/freeing.py",
        " if os.stat(path).st_mtime * 1000 < since_ms]",
        "]",
        f"{_KEEPING}::test_files_within_the_grace_period_stay",
    ),
    Mutant(
        "recorded files",
        "the limits are looked at after the files are written",
        "files/snapshot.py",
        "    if files > MOST_FILES or size > MOST_BYTES:\n",
        "    if False:\n",
        f"{_SNAPSHOTS}::test_too_much_is_not_recorded_and_nothing_is_written",
    ),
    Mutant(
        "recorded files",
        "tracked files are left out if they are ignored",
        "files/changes.py",
        "    forced = frozenset(place.rules.tracked_though_ignored())\n",
        "    forced = frozenset()\n",
        f"{_SNAPSHOTS}::test_a_tracked_file_is_recorded_even_if_it_is_ignored",
    ),
    Mutant(
        "recorded files",
        "a restore overwrites repositories",
        "files/restore.py",
        "    _check_conflicts(place, wanted)\n",
        "",
        f"{_SNAPSHOTS}::test_what_must_stay_is_not_overwritten",
    ),
    Mutant(
        "recorded files",
        "the attributes of the user change what is recorded",
        "files/repository.py",
        '_ATTRIBUTES = "* -text -eol -filter -ident -working-tree-encoding\\n"',
        '_ATTRIBUTES = "\\n"',
        f"{_SNAPSHOTS}::test_filters_and_line_ends_of_the_user_change_nothing",
    ),
    Mutant(
        "recorded files",
        "others may read what is recorded",
        "process/git.py",
        '                umask=0o077 if options.get("private") else -1,\n',
        "                umask=-1,\n",
        f"{_SAFELY}::test_nobody_else_may_read_what_is_recorded",
    ),
    Mutant(
        "recorded files",
        "git opens a pipe with rules",
        "files/hazards.py",
        "    if entry.name in _READ_BY_GIT:\n",
        "    if False:\n",
        f"{_HOSTILE}::test_a_file_that_git_reads_is_looked_at_before_git_starts",
    ),
    Mutant(
        "recorded files",
        "one name that git refuses is not left out",
        "files/hazards.py",
        '    if entry.name != b".git" and is_refused(entry.name):\n',
        "    if False:\n",
        f"{_HOSTILE}::test_what_is_not_recorded_survives_a_restore",
    ),
    Mutant(
        "recorded files",
        "a git that hangs outlives the run that is stopped",
        "process/cancel.py",
        "        return now > self._last_until\n",
        "        return False\n",
        f"{_GIT}::test_a_cancelled_run_gives_its_gits_one_second_together",
    ),
    Mutant(
        "recorded files",
        "packs are never joined",
        "files/freeing.py",
        "_packs(repository)) <= _MOST_PACKS:",
        "_packs(repository)) >= 0:",
        f"{_SAFELY}::test_small_packs_are_joined_and_no_tree_is_lost",
    ),
    Mutant(
        "delivered files",
        "a file with a secret is stored",
        "files/artifacts.py",
        "                _check_secrets(each.data, redactor)\n",
        "",
        f"{_DELIVERY}::test_a_file_with_a_known_secret_is_rejected",
    ),
    Mutant(
        "delivered files",
        "a file that changes while it is read is stored",
        "files/artifacts.py",
        "    if size != status.st_size or after.st_mtime_ns != status.st_mtime_ns:\n",
        "    if False:\n",
        f"{_DELIVERY}::test_a_file_that_changes_while_it_is_read_is_rejected",
    ),
    Mutant(
        "delivered files",
        "each file of an output may have all of the bytes",
        "files/artifacts.py",
        "                left -= len(each.data)\n",
        "",
        f"{_DELIVERY}::test_all_files_of_an_output_share_the_limit",
    ),
    Mutant(
        "delivered files",
        "a rejected output stores the files that are good",
        "files/artifacts.py",
        "    return ([], tuple(problems)) if problems else (found, ())\n",
        "    return found, ()\n",
        f"{_DELIVERY}::test_what_was_rejected_is_not_stored",
    ),
    Mutant(
        "worktrees",
        "the git of a killed process is not waited for",
        "engine/worktree.py",
        ", inherits=(lock,))",
        ")",
        "tests/crash/test_kill_worktrees.py::test_git_of_a_killed_thread_is_waited_for",
    ),
)
