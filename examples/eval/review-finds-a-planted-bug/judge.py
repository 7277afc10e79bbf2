"""Compares what the review found with what was planted.

`judge.py <folder> <thread-id>`: the findings are read through uwf's Python client, which finds the
trial's own store in the environment. The score is the F1 of found and planted bugs, by lines;
if nothing was planted, 1 if nothing was found.
"""

import json
import sys
from pathlib import Path

from uwf_core.client import Client

PLANTED = Path(__file__).with_name("planted.json")
NEAR = 1
"""How many lines a finding may be off: some name the `def`, some the line below."""


def matched(found: list[int], planted: list[int]) -> int:
    """How many planted bugs were found; a finding counts for one of them."""
    left = list(found)
    for line in planted:
        near = [each for each in left if abs(each - line) <= NEAR]
        if near:
            left.remove(min(near, key=lambda each: abs(each - line)))
    return len(found) - len(left)


def main(folder: str, thread: str) -> None:
    """Judge the last step of the thread."""
    (program,) = Path(folder).glob("*.py")
    planted = [each["line"] for each in json.loads(PLANTED.read_text())[program.stem]]
    with Client.open() as uwf:
        last = next(uwf.thread(thread).newest_first()).output
    found = [each["line"] for each in last["findings"]]
    hits = matched(found, planted)
    both = len(found) + len(planted)
    score = 2 * hits / both if both else 1.0
    data = {"planted": planted, "found": found, "hits": hits}
    print(json.dumps({"score": score, "data": data}))


if __name__ == "__main__":
    main(*sys.argv[1:])
