"""`python json_schema_suite.py LOCK FOLDER`: the official test suite of JSON Schema, in FOLDER.

It is the one in the source distribution of the locked jsonschema, whose hash pip verifies.
"""

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path


def main(lock: Path, folder: Path) -> None:
    """Fetch it, unless that version is there."""
    pin = re.search(
        r"^jsonschema==\S+(?: \\\n    --hash=\S+)+", lock.read_text("utf-8"), re.MULTILINE
    )
    assert pin is not None, f"{lock} has no jsonschema"
    done = folder / "from"
    if done.is_file() and done.read_text("utf-8") == pin[0]:
        return
    with tempfile.TemporaryDirectory() as name:
        wanted = Path(name, "wanted.txt")
        wanted.write_text(pin[0], "utf-8")
        words = ["--quiet", "--no-deps", "--no-binary", "jsonschema", "--dest", name]
        subprocess.run(
            [sys.executable, "-m", "pip", "download", *words, "-r", str(wanted)], check=True
        )
        with tarfile.open(next(Path(name).glob("*.tar.gz"))) as tar:
            tar.extractall(name, filter="data")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(next(Path(name).glob("*/json")), folder)
        done.write_text(pin[0], "utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
