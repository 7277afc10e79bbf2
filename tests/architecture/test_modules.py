"""Modules are named for what they hold, cost nothing to enter and keep no state."""

import ast

import pytest

from benchmarks.size import repeated_classes
from sources import CORE, counted_modules, name_of, nodes, shipped_modules, tree

EMPTY_WORDS = {"util", "utils", "helper", "helpers", "common", "misc", "shared", "stuff", "base"}

# A package whose `__init__` says more than its docstring, and what that may import.
SAYS_MORE = {
    "uwf_core": set(),  # the version
    "uwf_agent_acp": set(),  # the version
    "uwf_agent_builtin": set(),  # the version
    "uwf_agent_claude_code": set(),
    "uwf_agent_hermes": set(),
    "uwf_eval": set(),
    "uwf_explain": {"typing"},
    "uwf_export": set(),
    "uwf_import_original": set(),
    "uwf_improve": set(),
    "uwf_llm": set(),
    "uwf_mcp": set(),
    "uwf_testing": set(),
    "uwf_store_postgres": set(),
    "uwf_web": set(),
    "uwf_worker": set(),
    "uwf_core.api": {"importlib", "typing"},  # the public names, each loaded on first use
}


def packages() -> list:
    return [path for path in shipped_modules() if path.name == "__init__.py"]


def dotted(path) -> str:
    parts = path.parent.relative_to(path.parents[len(path.parents) - 1]).parts
    return ".".join(parts[parts.index("src") + 1 :])


@pytest.mark.parametrize("path", packages(), ids=dotted)
def test_entering_a_package_imports_nothing(path):
    """An `__init__` runs for every import below it, so on the start-up path of every command."""
    statements = [
        statement
        for statement in tree(path).body
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]
    if dotted(path) not in SAYS_MORE:
        assert [ast.unparse(statement) for statement in statements] == []
        return
    imported = {
        module
        for statement in statements
        for module in (
            [alias.name for alias in statement.names]
            if isinstance(statement, ast.Import)
            else [statement.module]
            if isinstance(statement, ast.ImportFrom)
            else []
        )
    }
    assert imported <= SAYS_MORE[dotted(path)]


def test_every_package_says_what_it_is():
    silent = [name_of(path) for path in packages() if not ast.get_docstring(tree(path))]
    assert silent == []


def test_every_folder_of_the_core_is_a_package():
    folders = {path.parent for path in CORE.rglob("*.py") if "templates" not in path.parts}
    assert [name_of(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_no_module_has_a_name_that_says_nothing():
    empty = [
        name_of(path)
        for path in shipped_modules()
        if EMPTY_WORDS & set(path.stem.lower().split("_"))
        or EMPTY_WORDS & set(path.parent.name.lower().split("_"))
    ]
    assert empty == []


def test_no_function_changes_a_global():
    """Everything hangs on one object that is built in one place."""
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in shipped_modules()
        for node in nodes(path)
        if isinstance(node, ast.Global)
    ]
    assert found == []


def test_no_error_is_swallowed_without_a_word():
    """An `except` whose body is `pass` carries a comment, on one of its lines, that says why."""
    silent = []
    for path in shipped_modules():
        lines = path.read_text(encoding="utf-8").splitlines()
        for node in nodes(path):
            if isinstance(node, ast.ExceptHandler) and isinstance(node.body[-1], ast.Pass):
                own = lines[node.lineno - 2 : (node.end_lineno or node.lineno)]
                if not any("#" in line for line in own):
                    silent.append(f"{name_of(path)}:{node.lineno}")
    assert silent == []


def test_the_tree_of_errors_in_the_docstring_is_the_tree_of_the_code():
    from uwf_core import errors

    def below(error):
        for subclass in error.__subclasses__():
            if subclass.__module__ == errors.__name__:
                yield subclass
                yield from below(subclass)

    named = errors.__doc__ or ""
    missing = [
        error.__name__
        for error in below(errors.UwfError)
        if not (issubclass(error, errors.AgentFailure) and error is not errors.AgentFailure)
        and error.__name__ not in named
    ]
    assert missing == []


def test_every_kind_of_failure_has_one_class_to_raise():
    from uwf_core.errors import AgentFailure, FailureKind

    kinds = [subclass.kind for subclass in AgentFailure.__subclasses__()]
    assert sorted(kind.word for kind in kinds) == sorted(kind.word for kind in FailureKind)


def test_no_class_name_occurs_twice_in_a_distribution():
    """A search for a class leads to one file; `python -m benchmarks.size --names` lists others."""
    assert repeated_classes(counted_modules()) == {}
