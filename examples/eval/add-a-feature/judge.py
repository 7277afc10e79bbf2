"""Calls the program's new option as a user would, with texts that no agent saw.

`judge.py <folder> <thread-id>`. The thread's task contains the option. The judge reads the thread
with `uwf`, whose store is that of the trial.
"""

import json
import subprocess
import sys
from pathlib import Path

CHECKS = Path(__file__).parent / "checks"
SECONDS = 10


def option_of(thread: str) -> str:
    """The option that the task asked for, out of the thread as text."""
    done = subprocess.run(
        ["uwf", "thread", "read", thread, "--quota", "4000"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    (option,) = [file.stem for file in CHECKS.glob("*.json") if f"--{file.stem} " in done.stdout]
    return option


def printed(folder: str, option: str, text: str) -> str:
    """What the program prints, or how it ends."""
    try:
        done = subprocess.run(
            [sys.executable, "-S", "-B", "words.py", f"--{option}"],
            cwd=folder,
            input=text,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
    except subprocess.SubprocessError as error:
        return f"nothing ({type(error).__name__})"
    return done.stdout.removesuffix("\n")


def main(folder: str, thread: str) -> None:
    """The share of texts for which the right thing is printed."""
    option = option_of(thread)
    checks = json.loads((CHECKS / f"{option}.json").read_text(encoding="utf-8"))
    wrong = []
    for check in checks:
        found = printed(folder, option, check["text"])
        if found != check["prints"]:
            wrong.append(f"{check['text']!r}: {found!r} instead of {check['prints']!r}")
    score = 1 - len(wrong) / len(checks)
    print(json.dumps({"score": score, "data": {"option": option, "wrong": wrong}}))


if __name__ == "__main__":
    main(*sys.argv[1:])
