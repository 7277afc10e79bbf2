"""The recorded files of a bundle: on export checked and searched for secrets, on import stored."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from uwf_core.cas.bundle_write import BundledObject
from uwf_core.errors import BundleError, WrongStateError
from uwf_core.files.keeping import kept_trees
from uwf_core.files.paths import shown
from uwf_core.files.secrets import holds_secret
from uwf_core.files.transfer import (
    BundledFiles,
    ImportedFiles,
    KeptFiles,
    count_missing,
    header_of,
    imported_files,
)
from uwf_core.files.trees import TREE, RecordedObjects, check_trees, entries_of, paths_to
from uwf_core.maintenance.recorded_trees import gaps_of, moments_of, trees_of

if TYPE_CHECKING:
    from uwf_core.api.redact import Redactor
    from uwf_core.engine.engine import Engine
    from uwf_core.ids import ThreadId
    from uwf_core.maintenance.bundle_check import CheckedBundle
    from uwf_core.thread.head import Head


@contextmanager
def files_to_export(engine: "Engine", heads: Sequence["Head"]) -> Iterator[Iterable[BundledObject]]:
    """The recorded files of threads, sorted by their SHA-256, for one block.

    Raises:
        WrongStateError: no files are recorded. StoreError: some are missing or damaged.
        BundleError: a file holds a secret that is known now, or may not be in a bundle.
    """
    moments = moments_of(engine.store, heads)
    if not moments:
        why = "".join(f"; {each}" for each in gaps_of(engine.store, heads)[:1])
        raise WrongStateError(
            f"thread {heads[0].thread} has no recorded files{why}",
            hint="export it without --with-files; `record: true` in a workflow records files",
        )
    with KeptFiles(engine.home, moments) as objects:
        check_trees(objects, moments)
        _check_secrets(objects, moments, engine.redactor)
        yield (_bundled(objects, name) for name in objects.found())


def files_to_import(
    engine: "Engine", checked: "CheckedBundle", threads: "Mapping[ThreadId, ThreadId]"
) -> AbstractContextManager[ImportedFiles]:
    """Store the files of a checked bundle; nothing keeps them before `keep`, within one block.

    Args:
        engine: the engine.
        checked: a bundle with files.
        threads: the threads of the bundle to keep files for, and the id of each here.

    Raises:
        StoreError: they cannot be stored.
    """
    chains = dict[str, list[str]]()
    for thread, here in threads.items():
        trees = [each.tree for each in trees_of(checked.store, checked.heads[thread], set())]
        if not {*trees} <= kept_trees(engine.home, here):
            chains[here] = list(dict.fromkeys(trees))
    return imported_files(engine.home, BundledFiles(checked.bundle), chains)


def missing_files(engine: "Engine", checked: "CheckedBundle") -> int:
    """How many objects of a checked bundle are not here."""
    return count_missing(engine.home, BundledFiles(checked.bundle))


def _bundled(objects: RecordedObjects, name: str) -> BundledObject:
    each = objects.found()[name]
    header = header_of(each)

    def chunks() -> Iterator[bytes]:
        yield header
        yield from objects.content(name)

    return BundledObject(name, len(header) + each.size, chunks())


def _check_secrets(
    objects: RecordedObjects, moments: Mapping[str, str], redactor: "Redactor"
) -> None:
    """Reject what was recorded with a secret: recorded files are not redacted."""
    if not redactor.forms:
        return
    for name, each in objects.found().items():
        if each.kind == TREE:
            wanted = {
                entry.object
                for entry in entries_of(objects, name)
                if holds_secret([entry.name], redactor)
            }
        else:
            wanted = {name} if holds_secret(objects.content(name), redactor) else set()
        if wanted:
            raise _secret_error(objects, moments, wanted, redactor)


def _secret_error(
    objects: RecordedObjects, moments: Mapping[str, str], wanted: set[str], redactor: "Redactor"
) -> BundleError:
    places = (
        (path, moment)
        for tree, moment in moments.items()
        for path in paths_to(objects, tree, wanted)
    )
    path, moment = next(places)
    return BundleError(
        f"the file {redactor.text(shown(path))!r} {moment} contains a secret that is known now; "
        "nothing was exported",
        hint="export the thread without --with-files; or replace the secret in its service, and "
        "remove it from the configuration and the environment",
    )
