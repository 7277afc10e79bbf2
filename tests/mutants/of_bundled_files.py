"""Bugs in the recorded files of bundles."""

from tests.mutants.mutant import Mutant

_FILES = "tests/core/files/test_bundles_with_files.py"
_TREES = "files/trees.py"
_ARCHIVES = "row: archives"

BUNDLED_FILES = (
    Mutant(
        "bundled files",
        "an object is not compared with its name",
        "cas/bundle.py",
        "        if digest.hexdigest() != name:",
        "        if False:",
        _ARCHIVES,
    ),
    Mutant(
        "bundled files",
        "objects may come that no tree has",
        _TREES,
        "    if strays:",
        "    if False:",
        _ARCHIVES,
    ),
    Mutant(
        "bundled files",
        "a small tree may name too many files",
        _TREES,
        "    if extent.files > MOST_FILES or",
        "    if False and extent.files > MOST_FILES or",
        _ARCHIVES,
    ),
    Mutant(
        "bundled files",
        "a link may lead outside",
        _TREES,
        "    if extent.climbs > 0:",
        "    if False:",
        _ARCHIVES,
    ),
    Mutant(
        "bundled files",
        "a link may go up again after a name",
        _TREES,
        " or not all(map(_is_name, names)):",
        ":",
        _ARCHIVES,
    ),
    Mutant(
        "bundled files",
        "a file may be called .git",
        "files/hazards.py",
        '.lower() == ".git"',
        '.lower() == ""',
        _ARCHIVES,
    ),
    Mutant(
        "bundled files",
        "a step may name an option to git",
        "maintenance/bundle_check.py",
        " or wrong_git_name(kind, payload)",
        "",
        _ARCHIVES,
    ),
    Mutant(
        "bundled files",
        "a recorded secret is exported",
        "maintenance/bundle_files.py",
        "        _check_secrets(objects, moments, engine.redactor)\n",
        "",
        f"{_FILES}::test_a_recorded_secret_is_not_given_away",
    ),
    Mutant(
        "bundled files",
        "nothing keeps imported files",
        "files/transfer.py",
        "                self._repository.set_newest(thread, tip)",
        "                pass",
        f"{_FILES}::test_imported_files_are_kept_until_their_thread_is_deleted",
    ),
    Mutant(
        "bundled files",
        "a folder that a bundle names is used",
        "threads/fork_files.py",
        "    return engine.cwd if is_imported(engine.store, start) else ",
        "    return engine.cwd if False else ",
        f"{_FILES}::test_an_imported_step_takes_a_worktree_of_the_repository_where_you_are",
    ),
    Mutant(
        "bundled files",
        "the files of called threads stay behind",
        "maintenance/export_bundle.py",
        "files_to_export(engine, heads)",
        "files_to_export(engine, heads[:1])",
        f"{_FILES}::test_the_files_of_called_threads_and_of_failed_attempts_come_along",
    ),
)
