"""The program's own record of its sessions, where the proof of a continuation lies.

`<config folder>/projects/<folder of the work>/<session>.jsonl`: one JSON object per line, of which
`user` and `assistant` lines have a `uuid` that stays theirs for ever, also in a fork. A line names
the one that it follows (`parentUuid`); `isSidechain` ones are of an agent that the model started.
Newer versions note the cost so far as `cost-state`. Versions 2.1.197 to 2.1.330 write it so.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from uwf_agent_claude_code.lines import model_tokens
from uwf_agent_claude_code.usage import Ledger
from uwf_core.api import open_regular


class Transcript(NamedTuple):
    """What a session's record holds.

    Attributes:
        entries: the `uuid`s of what was said, oldest first.
        parents: the line that each line follows, by `uuid`.
        last: the newest entry of the conversation itself.
        ledger: what it had cost, as it was last noted.
    """

    entries: tuple[str, ...]
    parents: Mapping[str, str | None]
    last: str
    ledger: Ledger

    def until(self, entry: str) -> frozenset[str]:
        """What the model knows at this entry: the entries of the conversation that leads to it."""
        known, at = set[str](), self.parents.get(entry)
        while at is not None and at not in known:
            known.add(at)
            at = self.parents.get(at)
        return frozenset({entry, *known.intersection(self.entries)})

    def after(self, entry: str) -> frozenset[str]:
        """What was said later than this entry."""
        return frozenset(self.entries[self.entries.index(entry) + 1 :])


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
    entries, parents, last, ledger = dict[str, None](), dict[str, str | None](), "", Ledger()
    for file in files:
        for line in _lines(file):
            name = line.get("uuid")
            if isinstance(name, str):
                parents[name] = line.get("parentUuid")
                if line.get("type") in ("user", "assistant"):
                    entries[name] = None
                    last = last if line.get("isSidechain") else name
            if line.get("type") == "cost-state":
                ledger = _ledger(line)
    return Transcript(tuple(entries), parents, last, ledger) if last else None


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    try:
        with open(open_regular(None, str(file), follow=True)[0], "rb") as lines:
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
