"""Answers each line in capitals; ends at the end of stdin."""

import sys

for line in sys.stdin:
    print(line.rstrip("\n").upper(), flush=True)
print("bye", flush=True)
