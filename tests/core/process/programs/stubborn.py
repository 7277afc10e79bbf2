"""Ignores every signal that can be ignored, says so, and stays."""

import signal
import time

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(60)
