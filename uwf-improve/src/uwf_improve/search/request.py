"""A search as `uwf improve propose --gepa` asks for it: its winner is a draft like any other."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uwf_core.client import Client
from uwf_core.commands import Session, working_folder
from uwf_core.errors import UsageError
from uwf_improve.edit.draft import Draft
from uwf_improve.sealed.catalog import secrets_of
from uwf_improve.sealed.confirm import cost_of_trial
from uwf_improve.sealed.trials import Match
from uwf_improve.search.candidates import Candidates, Origin, origin_of
from uwf_improve.search.open_tasks import Halves, OpenTasks, halves_of
from uwf_improve.search.proposer import Proposer


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How to search: at most `most` trials on the open tasks of `set`; `agent` drafts."""

    most: int
    set: str
    agent: str
    trial_agent: str | None = None
    trial_model: str | None = None
    jobs: int = 1


def searched_draft(
    session: Session, client: Client, file: Path, options: SearchOptions
) -> tuple[Draft, dict[str, Any]]:
    """The draft of the best version that a search finds, and what the search claims of it.

    Raises:
        UsageError: it finds none, or cannot begin. UwfError: it stopped; the same call continues.
    """
    try:
        from uwf_improve.search.gepa_search import Bench, search
    except ModuleNotFoundError as error:
        raise UsageError(
            "--gepa needs the library gepa",
            hint="next: uv tool install uwf-core --with 'uwf-improve[gepa]'",
        ) from error
    client.installation.check_agent(options.agent, Path(working_folder()))  # before any trial
    halves, origin = halves_of(client, options.set), origin_of(client, file)
    name = _name(origin, halves, options)
    author = f"gepa ({options.agent})"
    candidates = Candidates(client, origin, author, secrets_of(client, options.set))
    match = Match(
        name=name, tasks=[], workflows=[], repeats=1, jobs=options.jobs,
        agent=options.trial_agent, model=options.trial_model,
    )  # fmt: skip
    price = cost_of_trial(client, options.set)
    about = "" if price is None else f", about ${price * options.most:,.2f} beside the drafts,"
    session.note(
        f"search {name}: at most {options.most} trials{about} on {len(halves.train)} + "
        f"{len(halves.rank)} open tasks"
    )
    bench = Bench(
        client=client, origin=origin, halves=halves, candidates=candidates,
        tasks=OpenTasks(session, client, options.set, match),
        proposer=Proposer(session, client, options.agent, name, candidates),
    )  # fmt: skip
    found = search(bench, options.most)
    if found.texts == origin.texts:
        raise UsageError(
            f"GEPA finds no better version with {found.trials} trials",
            hint="the same command with a larger --gepa continues the search",
        )
    claims = {
        "name": name, "set": options.set, "trials": found.trials, "versions": found.versions,
        "tasks": len(halves.rank), "before": found.before, "after": found.after,
    }  # fmt: skip
    return candidates.draft(found.texts, found.why), claims


def _name(origin: Origin, halves: Halves, options: SearchOptions) -> str:
    """The same search has the same name, with any number of trials."""
    parts = [origin.champion, options.set, *halves.train, "", *halves.rank, options.agent]
    parts += [str(options.trial_agent), str(options.trial_model)]
    return f"gepa.{hashlib.sha256(repr(parts).encode()).hexdigest()[:8]}"
