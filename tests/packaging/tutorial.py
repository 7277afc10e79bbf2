"""`python tutorial.py WHEELS FOLDER`: the page about agent adapters, followed by a new author.

In a fresh folder and a fresh environment with nothing but wheels, every command of the page is run,
also those that install something, which the documentation's own tests leave out.
"""

import os
import sys
from pathlib import Path

from environment import CHECKOUT, Environment, finish, wheel_in

sys.path.insert(0, str(CHECKOUT / "tests" / "docs"))

import page_examples

PAGE = CHECKOUT / "docs" / "guides" / "write-agent.md"
INSTALLS = "skip, because it installs"
SECONDS = 170


def main(wheels: Path, folder: Path) -> int:
    """Follow the page; 1 if something on it is not so."""
    ours = (str(wheel_in(wheels, each)) for each in ("uwf-core", "uwf-llm", "uwf-testing"))
    environment = Environment(folder / "author", *ours, "hatchling", "pip")
    page_examples.SECONDS_PER_COMMAND = SECONDS
    reader = folder / "reader"
    reader.mkdir()
    project = page_examples.Project.below(reader)
    project.environment["PATH"] = f"{environment.bin}:{os.defpath}"
    settings = (name for name in os.environ if name.startswith(("PIP_", "SSL_", "REQUESTS_")))
    project.environment |= {name: os.environ[name] for name in settings}
    for block in page_examples.blocks(PAGE):
        todo = block._replace(directive="") if block.directive == INSTALLS else block
        try:
            project.run(todo)
        except page_examples.ExampleError as error:
            return finish([f"the tutorial: {error}"])
        print(f"isolated: tutorial: {PAGE.name}:{block.line}", flush=True)
    return finish([])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
