"""Find the workflows that a file calls: as a reference, a file below it, or by name."""

# Folders are text here, as in `discover`.
# ruff: noqa: PTH100, PTH118, PTH120

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from uwf_core.cas.bounds import Budget
from uwf_core.errors import DefinitionError, UwfError
from uwf_core.fields.records import read_payload
from uwf_core.ids import Ref
from uwf_core.process.path_walk import PathOutside
from uwf_core.workflow.check import Checked, check_loaded, rejected
from uwf_core.workflow.definition import END, FAILED, SELF, Definition, Edge
from uwf_core.workflow.discover import SUFFIXES, ResolveContext, resolve
from uwf_core.workflow.failed import ends_as, failed_results
from uwf_core.workflow.fan_out import MAX_JOINT, flat_graph
from uwf_core.workflow.fields import WorkLeft
from uwf_core.workflow.load import Loaded, load_beside, load_file, reason
from uwf_core.workflow.variants import result_schema, variants
from uwf_core.yaml.problem import Problem

MAX_CALLED_VALUES: Final = 50_000
"""The most values that all called files together may hold."""
MAX_CALL_DEPTH: Final = 32
"""The most files that call each other in a chain."""
_FILE_VALUES: Final = 250
"""What a file counts at least: to find and open it takes time."""


class Callee(NamedTuple):
    """A called workflow.

    Attributes:
        workflow: its reference, or the completed mapping of a file.
        result: the JSON Schema of what it delivers; None if it never ends.
        input: the JSON Schema of its typed input, or None.
        is_apart: whether its threads work in separate worktrees.
    """

    workflow: Ref | dict[str, Any]
    result: Mapping[str, Any] | None
    input: Mapping[str, Any] | None
    is_apart: bool


class CalleeError(Exception):
    """A workflow cannot be called; `problems` are those of that file."""

    def __init__(
        self, code: str, message: str, hint: str = "", problems: tuple[Problem, ...] = ()
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.problems = problems


class Callees:
    """Finds what the files of one command call; each file is checked once. `context` is asked for
    only if there is a call.

    Attributes:
        lacks: why the user cannot use the agent or model (the first argument) of a name; None if
            they can.
        homes: the homes of uwf and of the user, where skills and memory can be; "" if unknown.
    """

    def __init__(
        self,
        context: Callable[[], ResolveContext],
        definition: Callable[[Ref], Definition],
        notice: Callable[[str], None] = lambda _: None,
        lacks: Callable[[str, str], str | None] = lambda _kind, _name: None,
        homes: tuple[str, str] = ("", ""),
    ) -> None:
        self._context = context
        self._definition = definition
        self._notice = notice
        self.lacks = lacks
        self.homes = homes
        self._found: dict[tuple[str, str], Callee | CalleeError] = {}
        self._chain: tuple[str, ...] = ()
        self._values = 0
        self._budget = Budget()
        self._joint = WorkLeft(MAX_JOINT)

    def find(self, word: str, file: str) -> Callee:
        """The workflow that a word in `file` names.

        Raises:
            CalleeError: it is unknown, outside, has errors, or calls `file` in turn.
        """
        folder = os.path.dirname(os.path.abspath(file))
        key = word, folder
        if key in self._found:
            known = self._found[key]
            if isinstance(known, CalleeError):
                raise CalleeError(known.code, known.message, known.hint)  # its problems are known
            return known
        try:
            found = self._found[key] = self._find(word, file, folder)
        except CalleeError as error:
            self._found[key] = error
            raise
        return found

    def budget(self) -> Budget:
        """What the schemas of the file that is checked now may take: the called ones share it."""
        return self._budget if self._chain else Budget()

    def joint(self) -> WorkLeft:
        """The same for its joint results."""
        return self._joint if self._chain else WorkLeft(MAX_JOINT)

    def _find(self, word: str, file: str, folder: str) -> Callee:
        is_path = "/" in word or word.endswith(SUFFIXES)
        try:
            if is_path and not Ref.matches(word):
                return self._checked(word, file, os.path.join(folder, word), beside=True)
            found = resolve(word, self._context()._replace(cwd=folder))
            for notice in found.notices:
                self._notice(notice)
            if found.ref is not None:
                return _published(self._definition(found.ref))
            assert found.file is not None
            return self._checked(found.file, file, found.file, beside=False)
        except UwfError as error:
            raise CalleeError("unknown-workflow", error.message, error.hint or "") from error

    def _checked(self, word: str, file: str, path: str, *, beside: bool) -> Callee:
        """The workflow in a file, checked with all that it calls."""
        if self._values > MAX_CALLED_VALUES:
            raise _too_many(word)
        here, before = os.path.realpath(path), self._chain
        chain = (*before, os.path.realpath(file))
        if here in chain:
            raise CalleeError(
                "workflow-cycle",
                f"{word!r} is called within itself",
                "a workflow calls itself with `workflow: $SELF`; remove one of the other calls",
            )
        if len(chain) > MAX_CALL_DEPTH:
            raise CalleeError(
                "too-deep",
                f"{word!r} is called through more than {MAX_CALL_DEPTH} files",
                "call it from a workflow that is nearer to the first one",
            )
        self._chain = chain
        try:
            checked = self._beside(word, file, path) if beside else self._named(word, path)
        finally:
            self._chain = before
        if checked.workflow is None:
            message = f"the workflow {word!r} has errors"
            raise CalleeError("unknown-workflow", message, problems=checked.problems)
        return _unpublished(checked.workflow)

    def _named(self, word: str, path: str) -> Checked:
        try:
            loaded = load_file(path)
        except DefinitionError as error:
            return rejected(path, error)
        self._count(word, loaded)
        return check_loaded(loaded, path, self)

    def _count(self, word: str, loaded: Loaded) -> None:
        """Limit what is read: each file alone could be within its limits, and all of them not."""
        self._values += max(_FILE_VALUES, loaded.values)
        if self._values > MAX_CALLED_VALUES:
            raise _too_many(word)

    def _beside(self, word: str, file: str, path: str) -> Checked:
        """A file that a path names: below the folder of the calling file, like an include."""
        try:
            loaded = load_beside(file, word.removeprefix("./"))
        except PathOutside as error:
            raise CalleeError(
                "workflow-outside",
                f"{word!r} is outside the folder of the calling file",
                "keep called workflows below that folder, or register them: uwf workflow add FILE",
            ) from error
        except DefinitionError as error:
            return rejected(path, error)
        except (OSError, ValueError) as error:
            raise CalleeError(
                "unknown-workflow",
                f"cannot read the workflow {word!r}: {reason(error)}",
                "the path is relative to the folder of the calling file",
            ) from error
        self._count(word, loaded)
        return check_loaded(loaded, path, self)


def _too_many(word: str) -> CalleeError:
    return CalleeError(
        "too-many-nodes",
        f"with {word!r}, the called workflows hold more than {MAX_CALLED_VALUES:,} values",
        "register called workflows, and call them by name: uwf workflow add FILE",
    )


def _published(found: Definition) -> Callee:
    roles = {name: (role.workflow, role.schema) for name, role in found.roles.items()}
    result = _result(found.graph, roles)
    return Callee(found.ref, result, found.input, found.workspace is not None)


def _unpublished(workflow: dict[str, Any]) -> Callee:
    graph, fan_outs = flat_graph(
        {
            name: {status: read_payload(Edge, edge) for status, edge in edges.items()}
            for name, edges in workflow["graph"].items()
        }
    )
    roles = {
        name: (role["workflow"], role["frontmatter"]) for name, role in workflow["roles"].items()
    }
    roles |= {name: (None, edge.frontmatter) for name, edge in fan_outs.items()}
    expired = [role["expired"]["as"] for role in workflow["roles"].values() if role["expired"]]
    result = _result(graph, roles, expired)
    return Callee(workflow, result, workflow["input"], workflow["workspace"] is not None)


def _result(
    graph: Mapping[str, Mapping[str, Edge]],
    roles: Mapping[str, tuple[Any, Any]],
    expired: Iterable[str | None] = (),
) -> dict[str, Any] | None:
    """The type of the result, from the workflow that plays each role and its schema. `expired`:
    how it ends where the time of a role has passed.
    """
    outputs = {name: variants(schema) for name, (word, schema) in roles.items() if word != SELF}
    edges = [
        (name, status, edge.role) for name, each in graph.items() for status, edge in each.items()
    ]
    after = failed_results(ends_as(graph, expired))
    edges += [(FAILED, each.status, END) for each in after[FAILED]]
    return result_schema(edges, {**outputs, **after})
