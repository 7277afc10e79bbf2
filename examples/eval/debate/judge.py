"""The share of objections that the advocate took up by their numbers.

`judge.py <folder> <thread-id>`. There is nothing in the folder; the record is read through uwf's
Python client, which finds the trial's own store in the environment.
"""

import json
import sys

from uwf_core.client import Client


def main(thread: str) -> None:
    """Go through the thread, step by step."""
    raised: set[int] = set()
    answered: set[int] = set()
    with Client.open() as uwf:
        outputs = [step.output for step in uwf.thread(thread).steps("output")]
    for output in outputs:
        raised |= {each["number"] for each in output.get("objections", [])}
        # Answers to objections that nobody raised count for nothing.
        answered |= raised & set(output.get("answered", []))
    open_ = sorted(raised - answered)
    score = len(answered) / len(raised) if raised else 0.0
    data = {"raised": sorted(raised), "answered": sorted(answered), "open": open_}
    print(json.dumps({"score": score, "data": data}))


if __name__ == "__main__":
    main(sys.argv[2])
