"""Is the letter spelled correctly, and is it still the same letter?

uwf-eval runs `spelling.py <cwd> <thread-id>` in a copy of the trial's folder that no agent can
change. The last line on stdout is {"score": 0..1, "data": {…}}. A judge that cannot judge exits
with a code other than 0: the judge failed, and the trial gets no score.

Programs that a judge starts must not share its stdout: capture their output, as in
    subprocess.run([...], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
"""

import json
import sys
from pathlib import Path

CORRECT = {"recieved": "received", "seperate": "separate"}


def main() -> None:
    """Print the score."""
    folder, _thread = Path(sys.argv[1]), sys.argv[2]
    text = (folder / "letter.txt").read_text(encoding="utf-8")
    wrong = [word for word in CORRECT if word in text]
    wanted = [word for word in CORRECT.values() if word not in text]
    kept = text.startswith("Dear Ada,") and text.rstrip().endswith("Yours, Charles")
    found = len(CORRECT) - len({*wrong, *(CORRECT_BACK[word] for word in wanted)})
    score = found / len(CORRECT) if kept else 0.0
    print(json.dumps({"score": score, "data": {"wrong": wrong}}))


CORRECT_BACK = {good: bad for bad, good in CORRECT.items()}

if __name__ == "__main__":
    main()
