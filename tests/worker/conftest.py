"""What is beside these tests can be imported, also where they are the tests of one distribution."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
