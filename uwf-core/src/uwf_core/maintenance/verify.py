"""`cas verify`: check the whole store, or what one thread or node reaches. Changes nothing.

Of files: whether the trees that steps name are there, and whether delivered files have the bytes
that their nodes describe. A thread without them stays usable, so it is not marked as damaged.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from uwf_core.api.store import ManagedBackend, Variable
from uwf_core.cas.graph import NOWHERE
from uwf_core.cas.rows import every_row
from uwf_core.cas.variables import is_intact
from uwf_core.cas.verify import NodeFault, Scan, scan_all, scan_from
from uwf_core.config.original import LOG_HINT
from uwf_core.errors import CorruptNodeError, StoreError
from uwf_core.ids import Ref, ThreadId
from uwf_core.maintenance.recorded_trees import steps_of, trees_of
from uwf_core.maintenance.verify_calls import StoreProblem, call_problems
from uwf_core.thread.decisions import artifacts_of
from uwf_core.thread.head import IMPORTED, Head, head_of
from uwf_core.thread.history import differences, state_of_thread
from uwf_core.thread.names import HEADS, TASK, head_name, prefixes_of, thread_of
from uwf_core.thread.tags import task_tag

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine


_SHOWN = 12


def delivered_problems(engine: "Engine", heads: Sequence[Variable]) -> Iterator[StoreProblem]:
    """The errors of delivered files, each once."""
    steps, files = set[str](), dict[str, str]()
    for row in heads:
        try:
            for step in steps_of(engine.store, head_of(row), steps):
                files |= {ref: path for path, ref in artifacts_of(step.payload).items()}
        except StoreError:
            continue  # is another error
    if not files:
        return
    from uwf_core.files.content import content_problem  # not for every store

    for ref, path in files.items():
        try:
            wrong = content_problem(engine.store, ref)
        except StoreError:
            continue  # is another error
        if wrong is not None:
            yield StoreProblem("files", f"the file {path!r}: {wrong}")


def files_problems(engine: "Engine", heads: Sequence[Variable]) -> Iterator[StoreProblem]:
    """The errors of the recorded files of threads. Of an imported thread only those that came with
    it, or that it recorded here, have to be there.
    """
    moments, seen = dict[str, str](), set[str]()
    for row in sorted(heads, key=lambda row: IMPORTED in row.tags):
        try:
            found = dict(trees_of(engine.store, head_of(row), seen))
        except StoreError:
            continue  # is another error
        if IMPORTED in row.tags and found:
            from uwf_core.files.keeping import kept_trees

            kept = kept_trees(engine.home, head_of(row).thread)
            found = {tree: moment for tree, moment in found.items() if tree in kept}
        moments |= found
    if not moments:
        return
    from uwf_core.files.keeping import damaged_trees  # not for every store

    for tree, cause in damaged_trees(engine.home, moments).items():
        message = f"the files {moments[tree]} (tree {tree[:_SHOWN]}) cannot be read: {cause}"
        yield StoreProblem("files", message)


_TRIES = 3


class Report(NamedTuple):
    """The numbers of what was checked, and the errors."""

    nodes: int
    variables: int
    threads: int
    problems: tuple[StoreProblem, ...]

    @property
    def damaged(self) -> list[str]:
        """The threads that an error affects."""
        return sorted({thread for problem in self.problems for thread in problem.threads})

    def of_thread(self, thread: str) -> list[StoreProblem]:
        """The errors of one thread."""
        return [problem for problem in self.problems if thread in problem.threads]


class Scope(NamedTuple):
    """What to check: everything, all that one node reaches, or a thread with its variables."""

    node: Ref | None = None
    thread: ThreadId | None = None


def verify(engine: "Engine", scope: Scope) -> Report:
    """Check everything within `scope`; report every error with all threads that it affects."""
    whole = _Verification(engine, scope)
    if scope == Scope() or not (whole.report.problems):
        return whole.report
    # Only the whole store shows which other threads are affected.
    everything = _Verification(engine, Scope()).report
    nodes = {problem.node for problem in whole.report.problems if problem.node is not None}
    kept = [
        problem
        for problem in everything.problems
        if problem.node in nodes or scope.thread in problem.threads or problem.kind == "unreadable"
    ]
    return whole.report._replace(problems=tuple(kept))


class _Verification:
    """One check of a scope."""

    def __init__(self, engine: "Engine", scope: Scope) -> None:
        self._engine = engine
        self._scope = scope
        self._problems = [*self._log_problems()]
        rows = self._rows()
        intact = [row for row in rows if self._is_intact(row)]
        self._roots = self._roots_of(intact)
        scan = self._scan(rows)
        self._report_faults(scan, intact)
        self._report_missing_roots(scan, intact)
        heads = [row for row in intact if row.name.startswith(HEADS)]
        self._report_strays(rows)
        hit = {thread for problem in self._problems for thread in problem.threads}
        for row in heads:
            if thread_of(row.name) not in hit:
                self._check_head(row)
        self._problems += call_problems(engine.store, intact)
        self._problems += files_problems(engine, heads)
        self._problems += delivered_problems(engine, heads)
        self.report = Report(len(scan.graph), len(rows), len(heads), tuple(self._problems))

    def _log_problems(self) -> Iterator[StoreProblem]:
        backend = self._engine.backend
        facts = backend.facts() if isinstance(backend, ManagedBackend) else {}
        if self._scope == Scope() and (fault := facts.get("log")):
            yield StoreProblem("log", f"{fault}; {LOG_HINT}")

    # -- variables -------------------------------------------------------------------------------

    def _rows(self) -> list[Variable]:
        """All variables of the scope; read from both ends if a damaged file hides the middle."""
        if self._scope.node is not None:
            return []
        thread = self._scope.thread
        found: dict[str, Variable] = {}
        for prefix in [""] if thread is None else [head_name(thread), *prefixes_of(thread)]:
            try:
                found |= {row.name: row for row in every_row(self._engine.store.rows, prefix)}
            except StoreError as error:
                self._problems.append(StoreProblem("unreadable", f"cannot read names: {error}"))
                found |= {row.name: row for row in self._rows_one_by_one(prefix)}
        return list(found.values())

    def _rows_one_by_one(self, prefix: str) -> Iterator[Variable]:
        """All readable rows: from the first one forward and from the last one backward."""
        for descending in (False, True):
            after: str | None = None
            while True:
                try:
                    page = self._engine.store.rows(
                        prefix, after=after, limit=1, descending=descending
                    )
                except StoreError:
                    break
                if not page or page[0].name == after:
                    break
                after = page[0].name
                yield page[0]

    def _is_intact(self, row: Variable) -> bool:
        if is_intact(row):
            return True
        message = "its columns do not match their checksum"
        self._problems.append(
            StoreProblem("damaged", message, variable=row.name, threads=_threads(row.name))
        )
        return False

    def _roots_of(self, rows: Sequence[Variable]) -> dict[str, list[str]]:
        """The nodes that the variables of each thread refer to."""
        roots: dict[str, list[str]] = {}
        for row in rows:
            for thread in _threads(row.name):
                roots.setdefault(thread, []).append(row.value)
        return roots

    def _report_strays(self, rows: Sequence[Variable]) -> None:
        """Report attempts, turns and events of a thread whose head is lost."""
        names = {row.name for row in rows}
        for row in rows:
            for thread in _threads(row.name):
                if head_name(ThreadId(thread)) not in names and self._is_headless(thread):
                    message = f"its thread {thread} has no head"
                    self._problems.append(
                        StoreProblem("stray", message, variable=row.name, threads=(thread,))
                    )

    def _is_headless(self, thread: str) -> bool:
        try:
            return not self._engine.store.rows(head_name(ThreadId(thread)), limit=1)
        except StoreError:
            return True

    # -- nodes -----------------------------------------------------------------------------------

    def _scan(self, rows: Sequence[Variable]) -> Scan:
        store, values = self._engine.store, [row.value for row in rows]
        if self._scope.node is not None:
            return scan_from(store, [self._scope.node])
        if self._scope.thread is not None:
            return scan_from(store, values)
        scan = scan_all(store)
        if scan.unreadable is None:
            return scan
        self._problems.append(StoreProblem("unreadable", f"cannot read nodes: {scan.unreadable}"))
        return scan_from(store, values)

    def _report_faults(self, scan: Scan, rows: Sequence[Variable]) -> None:
        """Report the errors, but no missing node to which no variable leads: a collection may free
        it before the node that refers to it, which the next one frees.
        """
        affected = scan.affected(self._roots)
        needed = scan.affected({row.name: [row.value] for row in rows}) if scan.faults else {}
        is_whole = self._scope == Scope()
        for index, fault in enumerate(scan.faults):
            if fault.kind == "damaged" or index in needed or not is_whole:
                self._problems.append(_problem_of(fault, affected.get(index, ())))

    def _report_missing_roots(self, scan: Scan, rows: Sequence[Variable]) -> None:
        for row in rows:
            if scan.graph.position(row.value) != NOWHERE or self._is_there(row):
                continue
            message = f"the node is missing, but {row.name} refers to it"
            problem = StoreProblem("missing", message, row.value, row.name, _threads(row.name))
            same = next((each for each in self._problems if each.node == row.value), None)
            if same is None:
                self._problems.append(problem)
            else:
                threads = tuple(sorted({*same.threads, *problem.threads}))
                self._problems[self._problems.index(same)] = same._replace(threads=threads)

    def _is_there(self, row: Variable) -> bool:
        """Whether by now the variable refers to a node or is deleted."""
        store = self._engine.store
        try:
            return store.has(row.value) or store.variable(row.name) != row
        except StoreError:
            return False

    # -- heads -----------------------------------------------------------------------------------

    def _check_head(self, row: Variable) -> None:
        """Compare a head with its chain; check one that moves meanwhile again."""
        store = self._engine.store
        thread = row.name.removeprefix(HEADS)
        if not ThreadId.matches(thread):
            self._problems.append(
                StoreProblem("stray", "this is not a thread id", variable=row.name)
            )
            return
        for _ in range(_TRIES):
            problem = self._problem_of_head(row)
            now = store.variable(row.name)
            if now is None or problem is None:
                return
            if now == row:
                self._problems.append(problem)
                return
            row = now

    def _wrong_task(self, head: Head) -> list[str]:
        stored, tags = task_tag(self._engine.store, head.state.start), head.variable.tags
        is_wrong = TASK in tags and tags[TASK] != stored.get(TASK)
        return ["its task is not that of its start"] if is_wrong else []

    def _problem_of_head(self, row: Variable) -> StoreProblem | None:
        try:
            head = head_of(row)
            folded = state_of_thread(self._engine.store, head.thread, head.ref)
            wrong = [*differences(head.state, folded), *self._wrong_task(head)]
        except StoreError as error:
            return StoreProblem(
                "tags", error.message, variable=row.name, threads=_threads(row.name)
            )
        kind, message = "tags", "; ".join(wrong)
        if not wrong and head.damage is not None:
            kind, message = "mark", f"its damage is repaired: {head.damage}"
        return StoreProblem(kind, message, None, row.name, _threads(row.name)) if message else None


def _problem_of(fault: NodeFault, threads: Iterable[str]) -> StoreProblem:
    return StoreProblem(fault.kind, fault.message, node=fault.ref, threads=tuple(threads))


def _threads(name: str) -> tuple[str, ...]:
    thread = thread_of(name)
    return () if thread is None else (thread,)


def marking_of(problems: Sequence[StoreProblem]) -> str:
    """The errors of a thread in one line: the mark that its head gets."""
    first = problems[0]
    what = f"node {first.node}" if first.node is not None else first.variable or "the store"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{what}: {first.message}{more}"


def broken_head(engine: "Engine", thread: ThreadId) -> Head | None:
    """The head of a thread as stored, None if it cannot be read."""
    try:
        variable = engine.store.variable(head_name(thread))
        return None if variable is None else head_of(variable)
    except CorruptNodeError:
        return None
