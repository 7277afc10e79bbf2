"""A scripted agent: it plays both roles without a model, so you can try the task.

A command agent gets `--thread ID --role R --prompt TEXT --mode run`, works in the
current folder, and prints its reply as the last line: {"output": …}.
"""

import json
import sys
from pathlib import Path


def main() -> None:
    """Play the role that is asked for."""
    role = sys.argv[sys.argv.index("--role") + 1]
    letter = Path("letter.txt")
    text = letter.read_text(encoding="utf-8")
    if role == "writer":
        letter.write_text(
            text.replace("recieved", "received").replace("seperate", "separate"), encoding="utf-8"
        )
        output = {"$status": "done", "summary": "I corrected two words in letter.txt."}
    elif "recieved" in text or "seperate" in text:
        output = {"$status": "rejected", "comments": "There is a word left."}
    else:
        output = {"$status": "approved"}
    print(json.dumps({"output": output}))


if __name__ == "__main__":
    main()
