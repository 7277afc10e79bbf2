"""`python docs/generate cli` prints one reference page, without a name it lists them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

from generate import PAGES, page

if len(sys.argv) == 2 and sys.argv[1] in PAGES:
    print(page(sys.argv[1]))
else:
    print("\n".join(f"{name:10} {what}" for name, what in PAGES.items()))
