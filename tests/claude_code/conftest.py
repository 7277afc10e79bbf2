"""Lets the tests of this folder share the rows of the tests with the real program."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "real_agents"))
