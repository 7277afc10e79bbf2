"""Closes stdin unread and goes on for a moment."""

import os
import time

os.close(0)
time.sleep(0.2)
print("deaf but done")
