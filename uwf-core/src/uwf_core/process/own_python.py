"""The one way to start our own Python on a module.

`python -m` puts the current folder first on the module path, so a `uwf_core.py` or `click.py` in
a cloned repository would be executed. `-P` keeps it off; unlike `-I` it still finds packages by
`PYTHONPATH` and in the user's own site folder, where uwf itself may be installed.
"""

import sys


def own_python(module: str, *words: str) -> tuple[str, ...]:
    """The command line that runs `module` with this interpreter; never code of the folder that it
    is started in.
    """
    return (sys.executable, "-P", "-m", module, *words)
