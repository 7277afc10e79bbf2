"""The help of a command, read from the source of its module: the list of commands imports none."""

import ast
from collections.abc import Iterator


def help_in(source: bytes, attribute: str) -> str:
    """The help of the command that a module has as `attribute`; "" if the source does not show it.

    Raises:
        SyntaxError: it is not Python. ValueError: it has a null byte.
    """
    module = ast.parse(source)
    texts = (text for statement in module.body for text in _texts(statement, attribute))
    return next(filter(None, texts), "") or next(filter(None, _nouns(module)), "")


def _texts(statement: ast.stmt, attribute: str) -> Iterator[str]:
    """What a statement that defines the attribute says about it, what counts most first."""
    if isinstance(statement, ast.FunctionDef) and statement.name == attribute:
        for each in statement.decorator_list:
            if isinstance(each, ast.Call) and _name(each).endswith(("command", "group")):
                yield from _given(each)
        yield ast.get_docstring(statement) or ""
    elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if any(isinstance(each, ast.Name) and each.id == attribute for each in targets):
            yield from _given(statement.value)


def _given(call: ast.expr) -> Iterator[str]:
    """The texts of the arguments `short_help` and `help` of a call."""
    given = {each.arg: each.value for each in call.keywords} if isinstance(call, ast.Call) else {}
    for name in ("short_help", "help"):
        yield _text(given.get(name))


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func)


def _nouns(module: ast.Module) -> Iterator[str]:
    """The texts of the groups (`Noun`) that a module makes."""
    for each in ast.walk(module):
        if isinstance(each, ast.Call) and _name(each).endswith("Noun") and each.args:
            yield _text(each.args[0])


def _text(value: ast.expr | None) -> str:
    found = value.value if isinstance(value, ast.Constant) else ""
    return found if isinstance(found, str) else ""
