"""Lets the tests of this folder share `compare_kit.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
