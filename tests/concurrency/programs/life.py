"""What somebody does with threads, or with the store below them: `life.py live|collect TIMES`.

Begins when stdin is closed; prints one JSON line at the end.
"""

import json
import sys
import time

from uwf_core.client import Client
from uwf_core.errors import MissingNodeError, UnknownIdError

kind, times = sys.argv[1], int(sys.argv[2])
print("ready", flush=True)
sys.stdin.read()
done = {"steps": 0, "freed": 0}
with Client.open() as uwf:
    for number in range(times):
        if kind == "collect":
            done["freed"] += uwf.collect_garbage(0)["freed"]
            found = uwf.verify()
            assert not found["problems"], found["problems"]
            time.sleep(0.05)
            continue
        thread = uwf.start("loop", f"task {number % 2}")["thread"]
        outcome = uwf.exec(thread, count=2)
        done["steps"] += len(outcome.document["steps"])
        head = uwf.show(thread)["head"]
        uwf.cancel(thread)
        uwf.remove(thread)
        try:
            fork = uwf.fork(head)["thread"]
        except (MissingNodeError, UnknownIdError):
            continue  # it went with the thread; had it stayed, all of it would have
        done["steps"] += len(uwf.exec(fork).document["steps"])
        assert uwf.read(fork)
        if number % 3:
            uwf.cancel(fork)
            uwf.remove(fork)
print(json.dumps(done))
