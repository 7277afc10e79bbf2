"""Runs away: is a new process every moment, the old one gone; ignores SIGTERM. Ends after 60 s."""

import os
import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork():
    os._exit(0)
end = time.monotonic() + 60
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
