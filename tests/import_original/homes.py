"""Folders like those of the original: as recorded, and in the layouts of its earlier versions."""

import base64
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

RECORD: Mapping[str, Any] = json.loads((Path(__file__).parent / "home.json").read_bytes())
NODES: Mapping[str, bytes] = {ref: base64.b64decode(text) for ref, text in RECORD["nodes"].items()}
VARIABLES: Sequence[Sequence[Any]] = RECORD["variables"]
THREADS: Mapping[str, str] = RECORD["threads"]
"""The id of each recorded thread by its name in the scenario."""

_TABLE = """CREATE TABLE IF NOT EXISTS vars (name TEXT NOT NULL, schema TEXT NOT NULL,
value TEXT NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL,
tags TEXT NOT NULL DEFAULT '{}', labels TEXT NOT NULL DEFAULT '[]', PRIMARY KEY (name, schema))"""


def printed(command: str, thread: str) -> Mapping[str, Any]:
    """What a command of the original printed of a thread: `show` or `steps`."""
    document: Mapping[str, Any] = RECORD["printed"][f"{command} {thread}"]
    return document


def write_home(
    folder: Path,
    nodes: Mapping[str, bytes] = NODES,
    variables: Sequence[Sequence[Any]] = VARIABLES,
    table: str = _TABLE,
) -> Path:
    """A home as uwf 0.8.0 leaves it, with ocas 0.4."""
    write_nodes(folder / ".ocas/nodes", nodes)
    (folder / ".uwf").mkdir()
    (folder / ".ocas/vars").mkdir()
    with closing(sqlite3.connect(folder / ".ocas/vars/_store.db")) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute(table)
        if table == _TABLE:
            database.executemany("INSERT INTO vars VALUES (?, ?, ?, ?, ?, ?, ?)", variables)
        database.commit()
    return folder


def write_nodes(folder: Path, nodes: Mapping[str, bytes] = NODES) -> None:
    """The files of nodes."""
    folder.mkdir(parents=True)
    for ref, content in nodes.items():
        (folder / f"{ref}.bin").write_bytes(content)


def write_early_home(folder: Path) -> Path:
    """A home of the first versions: nodes in one folder, names in lists."""
    home = folder / ".uwf"
    write_nodes(home / "cas")
    values = {row[0]: (row[2], json.loads(row[5])) for row in VARIABLES}
    threads, history, workflows = [], [], []
    for name, (value, tags) in values.items():
        area, _, rest = name.removeprefix("@uwf/").partition("/")
        if area == "registry":
            workflows.append(f"{rest}: {value}\n")
        elif area == "thread" and tags.get("status") in ("end", "cancelled"):
            reason = "cancelled" if tags["status"] == "cancelled" else "completed"
            entry = {"thread": rest, "workflow": "", "head": value, "completedAt": 1}
            history.append(json.dumps({**entry, "reason": reason}) + "\n")
        elif area == "thread" and tags:
            threads.append(f"{rest}: {json.dumps({'head': value, **tags})}\n")
        elif area == "thread":
            threads.append(f"{rest}: {value}\n")
    for file, lines in (
        ("threads.yaml", threads), ("history.jsonl", history), ("workflows.yaml", workflows),
    ):  # fmt: skip
        (home / file).write_text("".join(lines), encoding="utf-8")
    return home


def fingerprint(folder: Path) -> dict[str, bytes | None]:
    """Every name in a folder, with the content of files."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
