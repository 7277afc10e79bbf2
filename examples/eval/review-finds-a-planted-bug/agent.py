"""The agent of this example: a script, no model. It knows only a few patterns of bugs.

It reads the program as a syntax tree. So it finds code that looks like a bug, once where there is
none, and overlooks bugs that only a reader of the words can see. Its scores show that.
"""

import argparse
import ast
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Finding = dict[str, Any]


def suspicious(tree: ast.AST) -> Iterator[Finding]:
    """Code that looks like a bug."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(args=arguments):
                for default in arguments.defaults:
                    if isinstance(default, ast.List | ast.Dict | ast.Set):
                        yield {"line": default.lineno, "problem": "all calls share this default"}
            case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=value)]):
                if value is not None:
                    yield {"line": node.lineno, "problem": f"{value!r} is compared by identity"}
            case ast.ExceptHandler(type=ast.Name(id="Exception")):
                yield {"line": node.lineno, "problem": "every error is swallowed here"}


def review(program: str, _told: list[Finding]) -> list[Finding]:
    """All code that looks like a bug."""
    return list(suspicious(ast.parse(program)))


def check(program: str, told: list[Finding]) -> list[Finding]:
    """Drop what a comment on the line gives a reason for."""
    lines = program.splitlines()
    return [each for each in told if "#" not in lines[each["line"] - 1]]


def findings_of(request: dict[str, Any], prompt: str) -> list[Finding]:
    """What the reviewer handed on, for the checker."""
    told = prompt.partition("Which of these hold? ")[2]
    return json.loads(told) if told and request["role"] == "checker" else []


def main() -> None:
    """Answer one call; the reply is the last line on stdout."""
    parser = argparse.ArgumentParser()
    for name in ("thread", "role", "prompt"):
        parser.add_argument(f"--{name}", required=True)
    call = parser.parse_known_args()[0]
    request = json.loads(Path(os.environ["UWF_REQUEST"]).read_text(encoding="utf-8"))
    (file,) = Path.cwd().glob("*.py")
    act = {"reviewer": review, "checker": check}[call.role]
    found = act(file.read_text(encoding="utf-8"), findings_of(request, call.prompt))
    output = {"$status": "reviewed", "findings": found}
    print(json.dumps({"output": output, "usage": {"turns": 1}}))


if __name__ == "__main__":
    main()
