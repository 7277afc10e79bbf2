"""Writes the name of each signal it gets to the file argv[1]; ends on the signal argv[2]."""

import os
import signal
import sys
import time

FILE, LAST = sys.argv[1:3]


def note(number: int, _frame: object) -> None:
    name = signal.Signals(number).name
    with open(FILE, "a") as file:
        file.write(name + "\n")
    if name == LAST:
        os._exit(0)


for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(each, note)
print("ready", flush=True)
while True:
    time.sleep(0.05)
