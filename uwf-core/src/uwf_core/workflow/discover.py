"""Find the workflow that a word selects, and the workflows of a project.

A word is looked up as a reference, a path, a workflow of the project, one below the configured
`workflowPaths`, and a name of the registry, in this order. A project's workflow is text that
agents with a shell will obey: it replaces a registry name only if the user trusts
the folder.

The registry has names of published workflows, which are variables that move.
"""

# Read by `thread start` and the listings: pathlib is not imported for that.
# ruff: noqa: PTH100, PTH113, PTH118, PTH119, PTH122, PTH208

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from uwf_core.errors import BusyError, UnknownIdError, UsageError
from uwf_core.ids import Ref
from uwf_core.process.folders import climb, foreign_error, is_own
from uwf_core.workflow.definition import is_workflow

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.cas.store import Store

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
"""The pattern of names of workflows."""
NAME_HINT = "use letters, digits, `.`, `_` and `-`, with a letter or digit first"

SUFFIXES = (".yaml", ".yml")
FOLDERS = (".workflow", ".workflows")
"""The folders of a project's workflows; if one folder has both, the former wins."""
INDEX_FILES = tuple("index" + suffix for suffix in SUFFIXES)
"""The file of a workflow that is named by its folder."""

Source = Literal["reference", "path", "local", "config", "registry"]


class Found(NamedTuple):
    """A workflow's file: `name` by the file's name, `folder` the project that holds it."""

    name: str
    file: str
    folder: str


class Registry(Protocol):
    """The questions to the store (`registry.StoreRegistry` implements it)."""

    def names(self) -> Mapping[str, Ref]:
        """Every name and its reference."""

    def holds(self, ref: Ref) -> bool:
        """Whether the store has this node."""

    def is_workflow(self, ref: Ref) -> bool:
        """Whether the node is a workflow."""


class ResolveContext(NamedTuple):
    """Where to look.

    Attributes:
        cwd: the folder where the search for a project's workflows starts.
        registry: the store's names.
        trusts: whether the user trusts a project's folder.
        paths: the configured `workflowPaths`, absolute.
        paths_trusted: whether these come from the user or a trusted project.
    """

    cwd: str
    registry: Registry
    trusts: Callable[[str], bool]
    paths: tuple[str, ...] = ()
    paths_trusted: bool = True


class Resolved(NamedTuple):
    """The result for a word: a published workflow (`ref`) or a file that is still unchecked.

    `notices` is for stderr: the origin of the workflow, and what was skipped.
    """

    source: Source
    name: str | None
    ref: Ref | None = None
    file: str | None = None
    notices: tuple[str, ...] = ()


def expected_name(file: str) -> str:
    """The required name of the workflow in `file`: the stem, or the folder for `index.yaml`."""
    folder, name = os.path.split(os.path.abspath(file))
    stem = os.path.splitext(name)[0]
    return os.path.basename(folder) if stem == "index" else stem


def local_workflows(cwd: str, trusts: Callable[[str], bool]) -> list[Found]:
    """The workflows of the project around `cwd`, by name; `trusts` is as in `ResolveContext`.

    The nearest folder with any workflow hides those further up; the climb ends after a folder
    that holds `.git` (a folder, or the file of a worktree).

    Raises:
        UsageError: a workflow folder cannot be read.
        ConfigError: it belongs to another user, and the project is not trusted.
    """
    for folder in climb(cwd):
        found: dict[str, Found] = {}
        for name in FOLDERS:
            path = os.path.join(folder, name)
            workflows = workflows_in(path, folder)
            if workflows and not is_own(path) and not trusts(folder):
                raise foreign_error(path, folder)
            for each in workflows:
                found.setdefault(each.name, each)
        if found:
            return sorted(found.values())
    return []


def workflows_in(folder: str, project: str) -> list[Found]:
    """The workflows directly below a folder, by name; none if the folder does not exist.

    For each name the first of `<name>.yaml`, `<name>.yml`, `<name>/index.yaml` and
    `<name>/index.yml`. Other files are skipped.
    """
    try:
        entries = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return []
    except OSError as error:
        raise UsageError(
            f"cannot read the workflow folder: {error.strerror}",
            where=folder,
            hint="fix its permissions",
        ) from error
    names = sorted({_stem(entry) for entry in entries})
    files = {name: file_of(folder, name) for name in names if NAME.match(name)}
    return [Found(name, file, project) for name, file in files.items() if file]


def _stem(entry: str) -> str:
    stem, suffix = os.path.splitext(entry)
    return stem if suffix in SUFFIXES else entry


def file_of(folder: str, name: str) -> str | None:
    """The file of the workflow `name` directly below `folder`, or None."""
    candidates = [os.path.join(folder, name + suffix) for suffix in SUFFIXES]
    candidates += [os.path.join(folder, name, index) for index in INDEX_FILES]
    return next((file for file in candidates if os.path.isfile(file)), None)


def resolve(word: str, context: ResolveContext) -> Resolved:
    """Resolve `word` to a workflow.

    Raises:
        UnknownIdError: none matches; the message lists the places searched, the hint similar names.
        UsageError: `word` is blank, or a workflow folder cannot be read.
        ConfigError: the project's workflows belong to another user.
    """
    if not word.strip():
        raise UsageError(
            "the workflow name is blank", hint="give its name, its file or its reference"
        )
    if Ref.matches(word) and context.registry.holds(Ref(word)):
        return _by_reference(Ref(word), context)
    return _by_path(word, context) if is_path(word) else _by_name(word, context)


def is_path(word: str) -> bool:
    """Whether the word of a workflow is the path of a file or folder."""
    return "/" in word or word.endswith(SUFFIXES)


def _by_reference(ref: Ref, context: ResolveContext) -> Resolved:
    if not context.registry.is_workflow(ref):
        raise UnknownIdError(
            f"the node {ref} is not a workflow",
            hint="next: uwf workflow list",
        )
    return Resolved("reference", None, ref)


def _by_path(word: str, context: ResolveContext) -> Resolved:
    path = os.path.normpath(os.path.join(context.cwd, word))
    inside = [os.path.join(path, index) for index in INDEX_FILES]
    file = next((each for each in (path, *inside) if os.path.isfile(each)), None)
    if file is None:
        folder, name = os.path.split(path)
        siblings = [each.name for each in _readable(folder)]
        raise UnknownIdError(
            f"unknown workflow file {word!r}",
            where=path,
            hint=_near(_stem(name), siblings) or "next: uwf workflow new NAME",
        )
    folder, last = os.path.split(file)
    name = os.path.basename(folder) if last in INDEX_FILES else _stem(last)
    return Resolved("path", name, None, file, (f"workflow {name} from {file}",))


def _readable(folder: str) -> list[Found]:
    try:
        return workflows_in(folder, folder)
    except UsageError:
        return []  # only for a hint: the error at hand is another one


def _by_name(word: str, context: ResolveContext) -> Resolved:
    registered = context.registry.names()
    ref = registered.get(word)
    passed: list[str] = []
    for source, found in _files(word, context):
        if ref is None or _may_shadow(source, found, context):
            notice = f"workflow {word} from {found.file}"
            return Resolved(source, word, None, found.file, (notice,))
        passed.append(
            f"ignored {found.file}: the registry has the name {word!r}, and the project is "
            f"not trusted; use the path of the file, or run: uwf config trust {found.folder}"
        )
    if ref is not None:
        notice = f"workflow {word} from the registry ({ref})"
        return Resolved("registry", word, ref, None, (*passed, notice))
    raise _unknown(word, context, registered)


def file_named(word: str, context: ResolveContext) -> str | None:
    """The file that a name selects before the registry does; None if there is none."""
    return next((found.file for _, found in _files(word, context)), None)


def _files(word: str, context: ResolveContext) -> Iterator[tuple[Source, Found]]:
    """The files that `word` may select."""
    if not NAME.match(word):
        return
    for found in local_workflows(context.cwd, context.trusts):
        if found.name == word:
            yield "local", found
    for folder in context.paths:
        file = file_of(folder, word)
        if file:
            yield "config", Found(word, file, folder)


def _may_shadow(source: Source, found: Found, context: ResolveContext) -> bool:
    """Whether a file may replace the registry's workflow of the same name."""
    return context.paths_trusted if source == "config" else context.trusts(found.folder)


def _unknown(word: str, context: ResolveContext, registered: Mapping[str, Ref]) -> UnknownIdError:
    known = [found.name for found in local_workflows(context.cwd, context.trusts)]
    known += [found.name for folder in context.paths for found in _readable(folder)]
    folders = list(climb(context.cwd))
    looked = [os.path.join(folders[0], FOLDERS[0])]
    looked += [f"the same in the folders above up to {folders[-1]}"] if len(folders) > 1 else []
    looked += [*context.paths, "the registry"]
    reference = ", not a known reference" if Ref.matches(word) else ""
    return UnknownIdError(
        f"unknown workflow {word!r}{reference} (searched {', '.join(looked)})",
        hint=_beside(word, context.cwd)
        or _near(word, [*known, *registered])
        or "see uwf workflow list; next: uwf workflow new .workflow/NAME.yaml",
    )


def _beside(word: str, cwd: str) -> str:
    """A file of this name in the folder itself, which only its path selects."""
    file = file_of(cwd, word) if NAME.match(word) else None
    return f"did you mean ./{os.path.relpath(file, cwd)}?" if file else ""


def _near(word: str, names: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, sorted(set(names)), 3, 0.5)
    return f"did you mean {' or '.join(near)}?" if near else ""


# -- the registry ----------------------------------------------------------------------------------


REGISTRY = "@uwf/registry/"
_TRIES = 20


def register(store: "Store", name: str, ref: Ref) -> "Variable":
    """Point `name` to the workflow at `ref`. Existing threads keep their version.

    Raises:
        BusyError: other processes kept changing the same name.
    """
    variable = REGISTRY + name
    for _ in range(_TRIES):
        known = store.variable(variable)
        if known is not None and known.value == ref:
            return known
        try:
            return store.set_variable(variable, ref, {}, known)
        except BusyError:
            continue
    raise BusyError(f"other processes keep changing the name {name!r}", hint="try again")


def registered(store: "Store", name: str) -> Ref | None:
    """The reference of `name`, or None."""
    known = store.variable(REGISTRY + name)
    return None if known is None else Ref(known.value)


def registry(store: "Store") -> dict[str, Ref]:
    """Every name and its reference, sorted by name."""
    return {
        variable.name.removeprefix(REGISTRY): Ref(variable.value)
        for variable in store.variables(REGISTRY)
    }


class StoreRegistry:
    """The registry of a store, for `discover.resolve`."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def names(self) -> dict[str, Ref]:
        """Every name and its reference."""
        return registry(self._store)

    def holds(self, ref: Ref) -> bool:
        """Whether the store has this node."""
        return self._store.has(ref)

    def is_workflow(self, ref: Ref) -> bool:
        """Whether the node is a workflow."""
        return is_workflow(self._store, ref)
