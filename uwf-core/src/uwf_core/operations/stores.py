"""What is done with nodes, bundles and whole stores."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from uwf_core.operations.declare import Kind
from uwf_core.operations.kinds import SPAN, File, Node, Payload, Type, Url
from uwf_core.operations.table import operation

if TYPE_CHECKING:
    from uwf_core.engine.bundle_documents import BundleDocument, ImportDocument, SourceDocument
    from uwf_core.engine.documents import CollectDocument, VerifyDocument


@operation("store.check", "maintenance.stores:check_store", text="store:check_text")
def store_check(
    url: Url = None,
    *,
    with_root: Annotated[
        bool, Kind(options=("--root",)), "Read all of it, and print the store root."
    ] = False,
) -> Any:
    """Check that a store can be used; print its versions, rights and times.

    URL is that of another store; paths in it are relative to UWF_HOME, as in the setting `store`.
    Two stores with the same root have the same nodes and names.

    $ uwf store check
    $ uwf store check --root
    $ uwf store check sqlite:copy.db
    """


@operation(
    "store.copy", "maintenance.stores:copy_store", text="store:copied_text", permission="admin"
)
def store_copy(
    places: Annotated[Sequence[str], Kind("", "[FROM] TO")],
    *,
    all: Annotated[bool, "Copy the whole home to the folder TO."] = False,
    move: Annotated[bool, "Refuse later writes to FROM, and use TO from now on."] = False,
) -> Any:
    """Copy a whole store to an empty one.

    Copies every node and name as they are at one moment, and verifies each. Others may use FROM
    meanwhile; what they write later is not in the copy. Prints the store root, which both have.
    Not copied: logs, sessions of agents, worktrees, recorded files and the configuration.

    --all makes a backup of the home: TO is a new folder, and gets the store, the recorded files,
    the sessions of agents and the configuration without keys. UWF_HOME=TO uses it.

    --move copies once more while nobody can write (exit code 75 if a thread runs), sets `store` to
    TO in your config.yaml, and makes FROM read-only. FROM is the store that you use.

    $ uwf store copy sqlite:store.db postgresql://uwf@db/uwf
    $ uwf store copy --move sqlite:store.db postgresql://uwf@db/uwf
    $ uwf store copy --all backup
    """


@operation(
    "store.migrate", "maintenance.stores:migrate_store", text="store:migrate_text",
    permission="admin",
)  # fmt: skip
def store_migrate(url: Url = None) -> Any:
    """Create a store, or bring its tables to the version of this uwf.

    Run it once for each server and schema, and after an upgrade of uwf that has new tables, as a
    role that may create tables. Until then a newer uwf only reads. Several calls at once are safe.

    $ uwf store migrate
    $ uwf store migrate postgresql://owner@db/uwf
    """


@operation(
    "cas.gc", "maintenance.gc:collect_garbage", text="store:gc_text", permission="admin",
    client="collect_garbage",
)  # fmt: skip
def cas_gc(
    grace_seconds: Annotated[
        float,
        SPAN,
        Kind("", "D", options=("--grace",)),
        "Keep nodes stored within this time: 7d, 12h, 30m, 0s (default: 1d).",
    ] = 86_400.0,
    *,
    dry_run: Annotated[bool, "Print what would be deleted; change nothing."] = False,
) -> "CollectDocument":
    """Delete unreachable nodes; print what was kept and why.

    Kept: all nodes reachable from threads, registered workflows, running attempts, their turns and
    events, and other names. Deleted: nodes that only a removed thread used, its recorded files, and
    cached sessions of questions about its steps. Threads may run meanwhile. The file does not
    shrink: SQLite reuses the free space.

    $ uwf cas gc --dry-run
    $ uwf cas gc --grace 7d
    """


@operation("cas.get", "views.node:show_node", text="store:node_text", client="node")
def cas_get(ref: Node) -> "Mapping[str, Any]":
    """Print a node: type, payload, time stored. Verifies its reference and digest.

    REF is a reference or a unique prefix of one.

    $ uwf cas get 3FQ8K1M2N4P5Q
    """


@operation("cas.has", "views.node:has_node", text="store:has_text", exit=("has", 1))
def cas_has(ref: Node) -> Any:
    """Check whether a node exists: exit code 0, or 1 if not. REF is a full reference.

    $ uwf cas has 3FQ8K1M2N4P5Q && echo found
    """


@operation("cas.hash", "views.node:hash_payload", text="{ref}", key="ref")
def cas_hash(type: Type, payload: Payload = "-") -> Any:
    """Print the reference that a JSON payload has; stores nothing.

    TYPE is a type's reference or a primitive's name: string, number, integer, boolean, object,
    array, null.

    $ echo '"some text"' | uwf cas hash string
    $ uwf cas hash object payload.json
    """


@operation(
    "cas.import", "importers.import_source:import_file", text="store:import_text",
    exit=("complete", 1), permission="admin", client="import_bundle",
)  # fmt: skip
def cas_import(
    file: Annotated[File, Kind("", "PATH", "file")],
    *,
    dry_run: Annotated[bool, "Validate only; change nothing."] = False,
    as_new: Annotated[bool, "Import under a new id if the thread exists already."] = False,
) -> "ImportDocument | SourceDocument":
    """Import threads from a bundle, or from a folder that an importer recognizes.

    Recomputes every reference and SHA-256, and checks every node against its type and the index
    of the thread against its steps, and the recorded files. Any error rejects the whole bundle. A
    thread that exists with the same head gets only recorded files that it lacks, with another head
    it is rejected; --as-new imports either as a fork under a new id. Registered workflow names
    never change.

    Of a bundle of ocas (without a manifest), imports the nodes alone: `uwf cas get` reads them, and
    `uwf cas gc` deletes them after a day.

    Importers (`uwf plugin list`) make bundles of what other programs recorded, such as the folder
    of a user of the original uwf (uwf-import-original). Nothing there is changed, and the threads
    are read-only: continue one with `uwf thread fork`. Damage rejects all of it. A thread that is
    incomplete is skipped with the reason, and the exit code is 1. Run it again to import what is
    new.

    $ uwf cas import thread.tar --dry-run
    $ uwf cas import ~/backup/home
    """


@operation("cas.put", "views.node:put_payload", text="{ref}", key="ref", permission="run")
def cas_put(type: Type, payload: Payload = "-") -> Any:
    """Store a JSON payload as a node of a type and print its reference.

    TYPE is a type's reference or a primitive's name: string, number, integer, boolean, object,
    array, null.

    $ echo '"some text"' | uwf cas put string
    """


@operation("cas.refs", "views.node:refs_of_node", text="store:refs_text")
def cas_refs(ref: Node) -> Any:
    """List the nodes that a node's payload refers to, without its type.

    $ uwf cas refs 3FQ8K1M2N4P5Q
    """


@operation("cas.schema.add", "views.node:put_type", text="{type}", key="type", permission="run")
def cas_schema_add(schema: Annotated[Payload, Kind("payload", "FILE")]) -> Any:
    """Store a JSON Schema as a type and print its reference. FILE may be - for stdin.

    $ uwf cas schema add person.schema.json
    """


@operation("cas.schema.list", "views.node:list_types", text="store:types_text", key="schemas")
def cas_schema_list() -> Any:
    """List the types in the store, with their titles.

    $ uwf cas schema list
    """


@operation("cas.schema.show", "views.node:show_type", text="store:schema_text")
def cas_schema_show(type: Type) -> Any:
    """Show a type's JSON Schema. TYPE is a reference, a prefix of one, or a primitive's name.

    $ uwf cas schema show string
    $ uwf cas schema show CTS5P6RD8HMCS
    """


@operation(
    "cas.verify", "maintenance.repair:verify_store", text="store:verify_text", exit=("valid", 1),
    permission="admin", client="verify",
)  # fmt: skip
def cas_verify(
    word: Annotated[str | None, Kind("", "[REF|THREAD]", "thread")] = None,
    *,
    repair: Annotated[bool, "Repair what steps or a bundle can restore."] = False,
    bundle: Annotated[
        str | None, Kind("", "BUNDLE", "file", ("--from",)), "Take intact nodes from this bundle."
    ] = None,
) -> "VerifyDocument":
    """Verify that nothing in the store was lost or changed.

    Checks the reference, the SHA-256 and the type of every node, references to missing nodes,
    every name, and each thread's head against its steps. Lists the damage and the affected
    threads, which are marked as corrupt. With a thread or a node, checks only what is reachable
    from it. Exit code 1 if anything is damaged.

    --repair rebuilds heads from their steps; with --from it restores damaged and missing nodes
    from a bundle. A repaired thread is no longer marked as corrupt.

    $ uwf cas verify
    $ uwf cas verify @last
    $ uwf cas verify --repair --from thread.tar
    """


@operation("cas.walk", "views.node:walk_from_node", text="store:refs_text")
def cas_walk(ref: Node) -> Any:
    """List a node and all nodes reachable from it, types included, each once.

    $ uwf cas walk 3FQ8K1M2N4P5Q
    """


@operation("bundle.verify", "maintenance.import_bundle:verify_bundle", text="store:verified_text")
def bundle_verify(file: File) -> "BundleDocument":
    """Verify that a bundle is complete and unchanged; needs no store and writes nothing.

    Checks every reference, every SHA-256, each node against its type, that all nodes of the thread
    are present and no others, and that the index agrees with the steps; in the same way the objects
    of recorded files, if the bundle has them. Compare the root with the
    one that the sender gave you. Exit code 4 if the bundle has an error.

    $ uwf bundle verify thread.tar
    """
