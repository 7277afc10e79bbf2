"""Prints argv[1] megabytes, to stderr if argv[2] says so."""

import os
import sys

fd = 2 if "stderr" in sys.argv[2:] else 1
block = (b"x" * 1023 + b"\n") * 1024
for _ in range(int(sys.argv[1])):
    rest = memoryview(block)
    while rest:
        rest = rest[os.write(fd, rest) :]
os.write(fd, b"the end")
