"""Lets the tests of this folder share `sources.py`, and count with `benchmarks/size.py`."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
