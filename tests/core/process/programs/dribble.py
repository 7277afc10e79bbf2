"""Prints a dot argv[1] times, argv[2] seconds apart, on stderr if argv[3] says so."""

import sys
import time

out = sys.stderr if "stderr" in sys.argv[3:] else sys.stdout
for _ in range(int(sys.argv[1])):
    print(".", file=out, flush=True)
    time.sleep(float(sys.argv[2]))
