"""The agent of this example: a script, no model, so that the example runs anywhere.

It speaks the command protocol (`uwf prompt adapter-developing`) and really works on the folder: it
makes small changes that typically fix such bugs, and runs the tests. It tries a random change
first, as a model does: another thread, another choice. `EXAMPLE_SEED` in the task's `env` makes the
choice depend on the seed and the program alone.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

SECONDS = 20
SWAPS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > "}
STEPS = {" + 1": ("", " - 1"), " - 1": ("", " + 1")}
RANGE = re.compile(r"range\((?:[^()]|\([^()]*\))*(?=\))")
RETURN = re.compile(r"^ +return \w+ [-+] \w+(?=$)")
CHANGE = re.compile(r"(?P<file>\w+\.py):(?P<line>\d+): `(?P<old>.*?)` became `(?P<new>.*?)`")


class Change(NamedTuple):
    """One line of a file, as it was and as it is."""

    file: str
    line: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: `{self.old.strip()}` became `{self.new.strip()}`"


def changed_lines(line: str) -> Iterator[str]:
    """A line with one small change, for each that could be the right one."""
    for old, new in SWAPS.items():
        for at in places(old, line):
            yield line[:at] + new + line[at + len(old) :]
    for old, others in STEPS.items():
        for at in places(old, line):
            for new in others:
                yield line[:at] + new + line[at + len(old) :]
    for found in [*RANGE.finditer(line), *RETURN.finditer(line)]:
        for step in STEPS:
            yield line[: found.end()] + step + line[found.end() :]


def places(text: str, line: str) -> list[int]:
    """The positions of a text in a line."""
    return [found.start() for found in re.finditer(re.escape(text), line)]


def changes(folder: Path) -> list[Change]:
    """Every small change of the program."""
    (file,) = [each for each in folder.glob("*.py") if not each.name.startswith("test_")]
    lines = file.read_text(encoding="utf-8").splitlines()
    return [
        Change(file.name, number, line, new)
        for number, line in enumerate(lines, 1)
        for new in changed_lines(line)
    ]


def apply(folder: Path, change: Change) -> None:
    """Make a change."""
    file = folder / change.file
    lines = file.read_text(encoding="utf-8").splitlines()
    lines[change.line - 1] = change.new
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def undo(folder: Path, told: str) -> None:
    """Take back the change that did not help, as the tester tells it."""
    found = CHANGE.search(told)
    if found is None:
        return
    lines = (folder / found["file"]).read_text(encoding="utf-8").splitlines()
    now = lines[int(found["line"]) - 1]
    apply(
        folder,
        Change(found["file"], int(found["line"]), now, now.replace(found["new"], found["old"])),
    )


def tests(folder: Path) -> tuple[bool, str]:
    """Whether all tests pass, and what they print."""
    (file,) = folder.glob("test_*.py")
    done = subprocess.run(
        [sys.executable, "-S", "-B", file.name],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    return done.returncode == 0, done.stdout.strip()


def develop(folder: Path, prompt: str, chance: random.Random) -> dict[str, Any]:
    """First a change that looks likely; sent back, the first one that the tests accept."""
    sent_back = CHANGE.search(prompt) is not None
    if sent_back:
        undo(folder, prompt)
    likely = changes(folder)
    chance.shuffle(likely)
    for change in likely:
        apply(folder, change)
        if not sent_back or tests(folder)[0]:
            return {"$status": "changed", "change": str(change)}
        apply(folder, change._replace(new=change.old))
    return {"$status": "changed", "change": "nothing: no small change makes the tests pass"}


def test(folder: Path, prompt: str, _chance: random.Random) -> dict[str, Any]:
    """Run the tests."""
    passed, printed = tests(folder)
    if passed:
        return {"$status": "passed"}
    change = prompt.partition("What was changed: ")[2]
    return {"$status": "failed", "change": change, "report": printed[-600:]}


ROLES = {"developer": develop, "tester": test}


def main() -> None:
    """Answer one call; the reply is the last line on stdout."""
    parser = argparse.ArgumentParser()
    for name in ("thread", "role", "prompt"):
        parser.add_argument(f"--{name}", required=True)
    call = parser.parse_known_args()[0]
    request = json.loads(Path(os.environ["UWF_REQUEST"]).read_text(encoding="utf-8"))
    seed = os.environ.get("EXAMPLE_SEED", call.thread)
    names = sorted(file.name for file in Path.cwd().glob("*.py"))
    chance = random.Random(f"{seed} {names} {request['stepNumber']}")
    fields = ROLES[call.role](Path.cwd(), call.prompt, chance)
    lines = [f"{key}: {json.dumps(value)}" for key, value in fields.items()]
    output = "\n".join(["---", *lines, "---", f"As the {call.role} I looked at every line.", ""])
    print(json.dumps({"output": output, "usage": {"turns": 1}}))


if __name__ == "__main__":
    main()
