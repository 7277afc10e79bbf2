"""The program's own record of its sessions, where the proof of a continuation lies.

`<config folder>/projects/<folder of the work>/<session>.jsonl`: one JSON object per line, of which
`user` and `assistant` lines have a `uuid` that stays theirs for ever, also in a fork. Newer
versions note the cost so far as `cost-state`. Versions 2.1.197 to 2.1.330 write it so.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from uwf_agent_claude_code.lines import model_tokens
from uwf_agent_claude_code.usage import Ledger


class Transcript(NamedTuple):
    """What a session's record holds.

    Attributes:
        entries: the `uuid`s of what was said.
        ledger: what it had cost, as it was last noted.
    """

    entries: frozenset[str]
    ledger: Ledger


def config_folder(env: Mapping[str, str]) -> Path:
    """The program's folder in this environment."""
    own = env.get("CLAUDE_CONFIG_DIR")
    return Path(own) if own else Path(env.get("HOME") or Path.home(), ".claude")


def find_transcript(folder: Path, session: str) -> Transcript | None:
    """What is recorded of a session; None where nothing was ever said in it.

    Args:
        folder: the program's folder.
        session: the session's id; a path is rejected.
    """
    if not session or not all(letter.isalnum() or letter == "-" for letter in session):
        return None
    files = sorted(folder.glob(f"projects/*/{session}.jsonl"))
    entries, ledger = set[str](), Ledger()
    for file in files:
        for line in _lines(file):
            if isinstance(line.get("uuid"), str) and line.get("type") in ("user", "assistant"):
                entries.add(line["uuid"])
            if line.get("type") == "cost-state":
                ledger = _ledger(line)
    return Transcript(frozenset(entries), ledger) if entries else None


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    try:
        with file.open("rb") as lines:
            for data in lines:
                try:
                    line = json.loads(data)
                except (ValueError, RecursionError):
                    continue  # cut off by a kill, or none of ours
                if isinstance(line, dict):
                    yield line
    except OSError:  # taken away, or not for us to read: then nothing is proven by it
        return


def _ledger(line: Mapping[str, Any]) -> Ledger:
    cost, models = line.get("totalCostUSD"), line.get("modelUsage")
    return Ledger(
        float(cost) if isinstance(cost, int | float) else 0.0,
        model_tokens(models) if isinstance(models, dict) else {},
    )
