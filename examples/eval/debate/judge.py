"""The share of objections that the advocate took up by their numbers.

`judge.py <folder> <thread-id>`. There is nothing in the folder; the record is asked for with `uwf`,
whose store is that of the trial.
"""

import json
import subprocess
import sys
from typing import Any


def uwf(*arguments: str) -> Any:
    """What a command of `uwf` says, as JSON."""
    done = subprocess.run(
        ["uwf", *arguments, "--format", "json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout)


def main(thread: str) -> None:
    """Go through the thread, step by step."""
    raised: set[int] = set()
    answered: set[int] = set()
    for row in uwf("step", "list", thread)["steps"][1:]:
        output = uwf("step", "show", row["step"])["output"]
        raised |= {each["number"] for each in output.get("objections", [])}
        # Answers to objections that nobody raised count for nothing.
        answered |= raised & set(output.get("answered", []))
    open_ = sorted(raised - answered)
    score = len(answered) / len(raised) if raised else 0.0
    data = {"raised": sorted(raised), "answered": sorted(answered), "open": open_}
    print(json.dumps({"score": score, "data": data}))


if __name__ == "__main__":
    main(sys.argv[2])
