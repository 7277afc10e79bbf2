"""The help of a command, read from the source of its module: the list of commands imports none."""

import ast
from collections.abc import Iterator


def help_in(source: bytes, attribute: str) -> str:
    """The help of the command that a module has as `attribute`; "" if the source does not show it.

    Raises:
        SyntaxError: it is not Python. ValueError: it has a null byte.
    """
    texts = (text for each in ast.parse(source).body for text in _texts(each, attribute))
    return next(filter(None, texts), "")


def _texts(statement: ast.stmt, attribute: str) -> Iterator[str]:
    """What a statement that defines the attribute says about it, what counts most first."""
    match statement:
        case ast.FunctionDef(name=name, decorator_list=calls) if name == attribute:
            made = [each for each in calls if _name(each).endswith(("command", "group"))]
            yield from (text for each in made for text in _given(each))
            yield ast.get_docstring(statement) or ""
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value)
            | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
        ) if name == attribute:
            yield from _given(value)


def _given(call: ast.expr) -> Iterator[str]:
    """The texts of the arguments `short_help` and `help` of a call."""
    given = {each.arg: each.value for each in getattr(call, "keywords", ())}
    for name in ("short_help", "help"):
        match given.get(name):
            case ast.Constant(value=str(text)):
                yield text


def _name(call: ast.expr) -> str:
    return ast.unparse(getattr(call, "func", call))
