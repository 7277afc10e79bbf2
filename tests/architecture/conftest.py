"""Lets the tests of this folder share its modules, `benchmarks/size.py` and `docs/generate`."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "docs")]
