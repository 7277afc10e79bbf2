"""Lets the tests here share `examples.py`; Mermaid's test needs what `nox -s docs` prepares."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

collect_ignore = [] if os.environ.get("UWF_MERMAID") else ["test_mermaid.py"]
