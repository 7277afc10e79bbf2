"""Lets the tests here share `page_examples.py`; Mermaid's test needs what `nox -s docs` makes."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

collect_ignore = [] if os.environ.get("UWF_MERMAID") else ["test_mermaid.py"]
