"""The store of the user who called, opened for one command."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from uwf_core.commands import Session, working_folder

if TYPE_CHECKING:
    from uwf_core.client import Client
    from uwf_eval.store.results import Results


@contextmanager
def results_of(session: Session) -> "Iterator[tuple[Client, Results]]":
    """The client and what evaluations left in its store; closed at the end.

    The collector rests meanwhile: thousands of trials are read, none of which is in a circle, and
    looking for circles would take a quarter of the time.
    """
    from uwf_core.client import Client
    from uwf_eval.store.results import Results

    gc.disable()
    try:
        with Client.open(env=session.env, cwd=working_folder(), on_notice=session.note) as client:
            yield client, Results(client)
    finally:
        gc.enable()
