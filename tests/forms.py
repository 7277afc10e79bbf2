"""An expensive test has two forms: a short one, which every merge runs, and a long one by hand.

    KILLS = form(short=8, long=250)

`python3 dev.py SESSION --long` runs the long forms (`tests`, `world`, `kits`, `postgres`; `faults`
does so without `--short`), `… tests tests/web --long` those of one folder. Both make the same
claims; the long form tries more cases. A short form tries the same cases each time.
"""

import os
from typing import TypeVar

_T = TypeVar("_T")

LONG = "UWF_TESTS_LONG" in os.environ


def form(*, short: _T, long: _T) -> _T:
    """What the form that runs takes."""
    return long if LONG else short
