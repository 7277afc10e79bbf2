"""Stages 1 to 3 for a command: resolve, check and publish the workflow that a word names."""

# Loaded by `thread start`: pathlib is not imported for that.
# ruff: noqa: PTH112, PTH113, PTH118

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from uwf_core.engine.watch import Watch
from uwf_core.errors import UsageError
from uwf_core.ids import Ref
from uwf_core.workflow.definition import ANY, Edge, is_workflow, read_definition
from uwf_core.workflow.discover import (
    ResolveContext,
    Resolved,
    StoreRegistry,
    file_named,
    is_path,
    register,
    resolve,
)
from uwf_core.workflow.publish import reference_of

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.workflow.bound import Bound
    from uwf_core.workflow.callees import Callees
    from uwf_core.workflow.check import Checked
    from uwf_core.workflow.definition import Definition
    from uwf_core.yaml.problem import Problem


def resolve_workflow(engine: "Engine", word: str) -> Resolved:
    """Resolve the word of a workflow, seen from the caller's folder.

    Raises:
        UsageError: it is blank or unknown.
    """
    return resolve(word, _context(engine))


def _context(engine: "Engine") -> ResolveContext:
    settings = engine.settings
    return ResolveContext(
        cwd=engine.cwd,
        registry=StoreRegistry(engine.store),
        trusts=trusting(engine),
        paths=settings.workflow_paths,
        paths_trusted=settings.paths_trusted,
    )


def file_of(engine: "Engine", word: str) -> str:
    """The file of the workflow that a word names: a path as it is, else that of the name, which
    counts here also where the registry has it and the folder is not trusted: nothing is run.

    Raises:
        UsageError: no workflow has this name, or it is in no file.
    """
    place = os.path.join(engine.cwd, word)
    if os.path.isfile(place) or (is_path(word) and not os.path.isdir(place)):
        return word
    context = _context(engine)
    file = file_named(word, context) or resolve(word, context).file
    if file is None:
        raise UsageError(
            f"{word!r} is a workflow of the registry; this command reads a file",
            hint=f"next: uwf workflow show {word}, or give the path of a file",
        )
    return file


def check_workflow(engine: "Engine", word: str, notice: Callable[[str], None]) -> "Checked":
    """Check the file of a workflow, with all that it calls.

    Raises:
        UsageError: it is unknown, missing or cannot be read.
    """
    from uwf_core.workflow.check import check_file

    return check_file(file_of(engine, word), _callees(engine, notice))


def check_workflow_text(
    engine: "Engine", text: str, file: str, notice: Callable[[str], None]
) -> "Checked":
    """Check the text of a workflow, as if it were in `file`, with all that it calls."""
    from uwf_core.workflow.check import check_text

    return check_text(text, file, _callees(engine, notice))


def fix_workflow(
    engine: "Engine", word: str, notice: Callable[[str], None]
) -> "tuple[tuple[Problem, ...], Checked]":
    """Fix what is mechanical in a file; the problems that are gone, and the check of the rest.

    Raises:
        UsageError: it is unknown, missing, cannot be read or written, or is a link.
    """
    from uwf_core.workflow.fix import fix_file

    return fix_file(file_of(engine, word), _callees(engine, notice))


def _callees(engine: "Engine", notice: Callable[[str], None]) -> "Callees":
    from uwf_core.workflow.callees import Callees

    def lacks(kind: str, name: str) -> str | None:
        from uwf_core.engine.names import lacking_agent, lacking_model

        return (lacking_agent if kind == "agent" else lacking_model)(engine, name)

    homes = engine.home, engine.env.get("HOME", "")
    return Callees(lambda: _context(engine), engine.definition, notice, lacks, homes)


def drafted(
    engine: "Engine", workflow: "Ref | dict[str, Any]"
) -> "tuple[Definition, Callable[[Ref], Definition]]":
    """The definition of a published workflow, or of a checked one as if it were published, and
    what reads those that it calls. Stores nothing.

    Raises:
        StoreError: the workflow is missing or damaged.
    """
    if not isinstance(workflow, dict):
        return engine.definition(workflow), engine.definition
    from uwf_core.cas.store import Store
    from uwf_core.stores.memory import open_memory
    from uwf_core.workflow.publish import publish

    draft = Store(open_memory("memory:", ""), engine.now_ms)
    ref = publish(draft, workflow)

    def read(ref: Ref) -> "Definition":
        return read_definition(draft, ref) if draft.has(ref) else engine.definition(ref)

    return _in_order_of(workflow, read(ref)), read


def _in_order_of(workflow: "dict[str, Any]", found: "Definition") -> "Definition":
    """A definition in the order of the file: a node does not keep that of roles and edges."""
    roles = {name: found.roles[name] for name in workflow["roles"]}
    graph = dict[str, dict[str, Edge]]()
    for source, edges in workflow["graph"].items():
        if source == ANY:
            continue
        every = found.graph[source]  # with the edges of failures
        graph[source] = {status: every[status] for status in (*edges, *every)}
        for status, edge in edges.items():
            if edge["then"] is not None:
                name = graph[source][status].role
                graph[name] = {joint: found.graph[name][joint] for joint in edge["then"]}
    return found._replace(
        roles=roles | {name: each for name, each in found.roles.items() if name not in roles},
        graph=graph,
    )


def bound_of_workflow(engine: "Engine", workflow: "Ref | dict[str, Any]") -> "Bound":
    """How many agent calls a checked or published workflow makes at most, with all that it calls,
    and how many attempts.

    Raises:
        StoreError: a workflow that it calls is missing or damaged.
    """
    from uwf_core.engine.retry import most_attempts
    from uwf_core.workflow.bound import bound_of

    factor = partial(most_attempts, engine.settings)
    return bound_of(*drafted(engine, workflow), engine.settings.limits.depth, factor)


def trusting(engine: "Engine") -> Callable[[str], bool]:
    """A function that decides whether the user trusts a folder."""
    from uwf_core.config.trust import is_trusted

    return lambda folder: is_trusted(engine.home, folder)


def read_workflow(engine: "Engine", word: str, watch: Watch) -> "Ref | dict[str, Any]":
    """The workflow that a word names: its reference, or what a file with new content defines,
    checked. Stores nothing.

    Raises:
        UsageError: it is unknown. DefinitionError: the file has errors.
    """
    return read_resolved(engine, resolve_workflow(engine, word), watch)


def read_resolved(engine: "Engine", resolved: Resolved, watch: Watch) -> "Ref | dict[str, Any]":
    """As `read_workflow`, of what a word was resolved to.

    Raises:
        DefinitionError: the file has errors.
    """
    for notice in resolved.notices:
        watch.notice(notice)
    if resolved.ref is not None:
        return resolved.ref
    assert resolved.file is not None
    known = reference_of(resolved.file)
    if known is not None and is_workflow(engine.store, known):
        return known
    return _read_file(engine, resolved.file, watch)


def find_workflow(
    engine: "Engine",
    word: str,
    watch: Watch,
    start_in: str | None = None,
    check: Callable[[Ref], None] = lambda _: None,
) -> Ref:
    """The published workflow that a word names; a file with new content is published first. The
    names in the registry do not change. Errors as `read_workflow`, and those of `check`.

    `start_in`: allow its programs as a start in this folder does; UsageError: they are not allowed.
    """
    from uwf_core.workflow.publish import publish

    resolved = resolve_workflow(engine, word)
    workflow = read_resolved(engine, resolved, watch)
    ref = publish(engine.store, workflow) if isinstance(workflow, dict) else workflow
    check(ref)
    if start_in is not None and engine.definition(ref).runs_programs:
        from uwf_core.engine.program_permission import allow_start

        with engine.store.transaction():
            allow_start(engine, ref, start_in, resolved.file, watch)
    return ref


def publish_word(engine: "Engine", word: str, watch: Watch) -> Ref:
    """The workflow of this store with this reference, else that of a file or name, checked and
    published; warnings go to the watch.

    Raises:
        UsageError: it is unknown. DefinitionError: it has errors, all of them in `problems`.
    """
    from uwf_core.workflow.publish import publish

    if Ref.matches(word) and is_workflow(engine.store, Ref(word)):
        return Ref(word)
    return publish(engine.store, _read_file(engine, word, watch))


def _read_file(engine: "Engine", file: str, watch: Watch) -> dict[str, Any]:
    checked = check_workflow(engine, file, watch.notice)
    workflow = checked.require()
    for problem in checked.problems:
        watch.notice(str(problem))
    return workflow


def add_workflow(
    engine: "Engine", file: str | os.PathLike[str], watch: "Watch", *, allow_programs: bool = False
) -> dict[str, str]:
    """Check and publish a workflow, and register it under its name. With `allow_programs`, this
    version and all that it calls may run the programs of their roles.

    Raises:
        DefinitionError: its `problems` are all errors of the file.
    """
    word = os.fspath(file)
    if engine.cwd != os.getcwd() and not Ref.matches(word):  # noqa: PTH109 (pathlib is not needed)
        word = os.path.join(engine.cwd, file_of(engine, word))
    ref = publish_word(engine, word, watch)
    definition = engine.definition(ref)
    if definition.runs_programs:
        from uwf_core.engine.program_permission import add_programs

        add_programs(engine, ref, watch.notice, allow=allow_programs)
    register(engine.store, definition.name, ref)
    return {"name": definition.name, "workflow": ref}
