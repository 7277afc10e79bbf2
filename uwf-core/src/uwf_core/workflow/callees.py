"""Find the workflows that a file calls: as a reference, a file below it, or by name."""

# Folders are text here, as in `discover`.
# ruff: noqa: PTH100, PTH118, PTH120

import os
from collections.abc import Callable, Mapping
from typing import Any

from uwf_core.errors import DefinitionError, UwfError
from uwf_core.ids import Ref
from uwf_core.named_tuple import NamedTuple
from uwf_core.process.path_walk import PathOutside
from uwf_core.workflow.check import Checked, check_file, check_loaded, rejected
from uwf_core.workflow.definition import SELF, Definition
from uwf_core.workflow.discover import ResolveContext, resolve
from uwf_core.workflow.file_name import SUFFIXES
from uwf_core.workflow.load import load_beside
from uwf_core.workflow.problem import Problem
from uwf_core.workflow.result_type import graph_edges, mapped_fan_outs, result_schema
from uwf_core.workflow.source_file import reason
from uwf_core.workflow.variants import variants


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
    """

    def __init__(
        self,
        context: Callable[[], ResolveContext],
        definition: Callable[[Ref], Definition],
        notice: Callable[[str], None] = lambda _: None,
        lacks: Callable[[str, str], str | None] = lambda _kind, _name: None,
    ) -> None:
        self._context = context
        self._definition = definition
        self._notice = notice
        self.lacks = lacks
        self._found: dict[tuple[str, str], Callee] = {}
        self._chain: tuple[str, ...] = ()

    def find(self, word: str, file: str) -> Callee:
        """The workflow that a word in `file` names.

        Raises:
            CalleeError: it is unknown, outside, has errors, or calls `file` in turn.
        """
        folder = os.path.dirname(os.path.abspath(file))
        key = word, folder
        if key not in self._found:
            self._found[key] = self._find(word, file, folder)
        return self._found[key]

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
        here, before = os.path.realpath(path), self._chain
        chain = (*before, os.path.realpath(file))
        if here in chain:
            raise CalleeError(
                "workflow-cycle",
                f"{word!r} is called within itself",
                "a workflow calls itself with `workflow: $SELF`; remove one of the other calls",
            )
        self._chain = chain
        try:
            checked = self._beside(word, file, path) if beside else check_file(path, self)
        finally:
            self._chain = before
        if checked.workflow is None:
            message = f"the workflow {word!r} has errors"
            raise CalleeError("unknown-workflow", message, problems=checked.problems)
        return _unpublished(checked.workflow)

    def _beside(self, word: str, file: str, path: str) -> Checked:
        """A file that a path names: below the folder of the calling file, like an include."""
        try:
            return check_loaded(load_beside(file, word.removeprefix("./")), path, self)
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


def _published(found: Definition) -> Callee:
    outputs = {
        name: variants(role.schema) for name, role in found.roles.items() if role.workflow != SELF
    }
    edges = graph_edges(found.graph, lambda edge: edge.role)
    result = result_schema(edges, outputs)
    return Callee(found.ref, result, found.input, found.workspace is not None)


def _unpublished(workflow: dict[str, Any]) -> Callee:
    outputs = {
        name: variants(role["frontmatter"])
        for name, role in workflow["roles"].items()
        if role["workflow"] != SELF
    }
    edges = [*graph_edges(workflow["graph"], _target)]
    for name, edge in mapped_fan_outs(workflow["graph"]):
        outputs[name] = variants(edge["frontmatter"])
        edges += graph_edges({name: edge["then"]}, _target)
    result = result_schema(edges, outputs)
    return Callee(workflow, result, workflow["input"], workflow["workspace"] is not None)


def _target(edge: dict[str, Any]) -> str:
    return str(edge["role"])
