"""Is the answer of the thread the expected one? The score is the share of equal fields.

uwf-eval runs `expected.py <cwd> <thread-id>` after the trial; expected.json has the fields of the
last step that a person expects.
"""

import json
import sys
from pathlib import Path

from uwf_core.client import Client


def main() -> None:
    """Print the score."""
    expected = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))
    with Client.open() as uwf:
        answer = next(uwf.thread(sys.argv[2]).newest_first()).output
    wrong = [key for key, value in expected.items() if answer.get(key) != value]
    score = 1 - len(wrong) / len(expected)
    print(json.dumps({"score": score, "data": {"wrong": wrong}}))


if __name__ == "__main__":
    main()
