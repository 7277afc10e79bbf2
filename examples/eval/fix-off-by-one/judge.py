"""Calls the repaired function with values that the agent never saw.

The contract: `judge.py <folder> <thread-id>`, and on the last line of stdout
`{"score": 0..1, "data": {…}}`. The agent wrote the called code, so it runs in a
separate process, with its output captured: it gets the calls and never the answers.
"""

import json
import subprocess
import sys
from pathlib import Path

CHECKS = Path(__file__).parent / "checks"
SECONDS = 20
CALLS = """
import importlib, json, sys
folder, module = sys.argv[1:]
sys.path.insert(0, folder)
names = vars(importlib.import_module(module))
found = []
for call in json.load(sys.stdin):
    try:
        found.append(repr(eval(call, names)))
    except Exception as error:
        found.append(type(error).__name__)
print(json.dumps(found))
"""


def called(folder: str, module: str, calls: list[str]) -> list[str]:
    """What each call gives; a program that cannot be asked gives nothing."""
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-B", "-c", CALLS, folder, module],
            input=json.dumps(calls),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
        found = json.loads(done.stdout.strip().splitlines()[-1])
    except (subprocess.SubprocessError, ValueError, IndexError) as error:
        return [f"nothing ({type(error).__name__})"] * len(calls)
    return [str(each) for each in found]


def main(folder: str) -> None:
    """Judge the one program of the checks that is in the folder."""
    (file,) = [each for each in CHECKS.glob("*.json") if Path(folder, f"{each.stem}.py").is_file()]
    checks = json.loads(file.read_text(encoding="utf-8"))
    results = called(folder, file.stem, list(checks))
    wrong = [
        f"{call} gives {result} instead of {wanted}"
        for (call, wanted), result in zip(checks.items(), results, strict=True)
        if result != wanted
    ]
    right = len(checks) - len(wrong)
    print(json.dumps({"score": right / len(checks), "data": {"right": right, "wrong": wrong}}))


if __name__ == "__main__":
    main(sys.argv[1])
