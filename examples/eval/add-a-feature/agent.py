"""The agent of this example: a script, no model. It knows these three options and nothing else.

What it does is real: it writes the code, runs it, and believes what it sees. Its first version of
an option is the one that comes to mind first, and fails where nobody looked; its reviewer looks.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple


class Option(NamedTuple):
    """What the agent knows of an option: a first version, a better one, what a reviewer tries."""

    says: str
    first: str
    better: str
    tries: dict[str, str]


OPTIONS = {
    "longest": Option(
        "The longest word, the first of several; nothing without words.",
        "str: max(text.split(), key=len)",
        'str: max(text.split(), key=len, default="")',
        {"a bb ccc": "ccc", "bb aa": "bb", "": ""},
    ),
    "unique": Option(
        "How many different words there are; capitals make no difference.",
        "int: len(set(text.split()))",
        "int: len(set(text.lower().split()))",
        {"a b a": "2", "The the": "1", "": "0"},
    ),
    "average": Option(
        "The average length of a word, to one decimal; 0.0 without words.",
        "float: round(sum(map(len, text.split())) / len(text.split()), 1)",
        "float: round(sum(map(len, text.split())) / max(1, len(text.split())), 1)",
        {"a bb ccc": "2.0", "a bb": "1.5", "": "0.0"},
    ),
}
FUNCTION = '''def {name}(text: str) -> {kind}:
    """{says}"""
    return {code}


OPTIONS = {{
    "{name}": {name},
'''
TEST = '''def test_{name}() -> None:
    """{says}"""
    assert str(words.{name}({text!r})) == {wanted!r}


if __name__'''


def run(folder: Path, *arguments: str, text: str = "") -> tuple[int, str]:
    """Run a Python file of the folder; its exit code, and what it prints."""
    done = subprocess.run(
        [sys.executable, "-S", "-B", *arguments],
        cwd=folder,
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=20,
        check=False,
    )
    return done.returncode, done.stdout.removesuffix("\n")


def develop(folder: Path, name: str, option: Option, prompt: str) -> dict[str, Any]:
    """Write the first version; where the reviewer found something, the better one."""
    program, tests = folder / "words.py", folder / "test_words.py"
    code = program.read_text(encoding="utf-8")
    kind, _, first = option.first.partition(": ")
    if "The reviewer found" in prompt:
        code = code.replace(first, option.better.partition(": ")[2])
    else:
        function = FUNCTION.format(name=name, kind=kind, says=option.says, code=first)
        code = code.replace("OPTIONS = {\n", function, 1)
        text, wanted = next(iter(option.tries.items()))
        test = TEST.format(name=name, says=option.says, text=text, wanted=wanted)
        old = tests.read_text(encoding="utf-8")
        tests.write_text(old.replace("if __name__", test, 1), encoding="utf-8")
    program.write_text(code, encoding="utf-8")
    _, said = run(folder, "test_words.py")
    return {"$status": "built", "summary": f"The option --{name}. The tests say: {said[-200:]}"}


def review(folder: Path, name: str, option: Option, _prompt: str) -> dict[str, Any]:
    """Try it out."""
    findings = []
    for text, wanted in option.tries.items():
        code, found = run(folder, "words.py", f"--{name}", text=text)
        if code or found != wanted:
            last = found.splitlines()[-1] if found else "nothing"
            findings.append(f"{text!r} gives {last!r} instead of {wanted!r}")
    if findings:
        return {"$status": "rejected", "findings": "; ".join(findings)}
    return {"$status": "approved"}


ROLES = {"developer": develop, "reviewer": review}


def main() -> None:
    """Answer one call; the reply is the last line on stdout."""
    parser = argparse.ArgumentParser()
    for name in ("thread", "role", "prompt"):
        parser.add_argument(f"--{name}", required=True)
    call = parser.parse_known_args()[0]
    request = json.loads(Path(os.environ["UWF_REQUEST"]).read_text(encoding="utf-8"))
    (asked,) = [name for name in OPTIONS if f"--{name} " in request["parts"]["task"]]
    fields = ROLES[call.role](Path.cwd(), asked, OPTIONS[asked], call.prompt)
    lines = [f"{key}: {json.dumps(value)}" for key, value in fields.items()]
    print(json.dumps({"output": "\n".join(["---", *lines, "---", ""]), "usage": {"turns": 1}}))


if __name__ == "__main__":
    main()
