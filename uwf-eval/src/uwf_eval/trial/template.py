"""Stores that a thread can begin in, made once for each workflow and copied for each trial."""

import shutil
from pathlib import Path

from uwf_core.client import Client
from uwf_eval.task.tree import make_private


class Templates:
    """Store files with one workflow each.

    Args:
        main: a client of the main store, that has the workflows.
        folder: where the files are made: of this process alone. It need not exist.
    """

    def __init__(self, main: Client, folder: Path) -> None:
        self._main = main
        self._folder = folder

    def copy(self, workflow: str, file: Path) -> None:
        """A new store file with a workflow (its reference) and nothing else.

        Raises:
            UwfError, OSError: it cannot be made.
        """
        template = self._folder / f"{workflow}.db"
        if not template.exists():
            self._make(workflow, template)
        shutil.copyfile(template, file)
        file.chmod(0o600)

    def _make(self, workflow: str, template: Path) -> None:
        make_private(self._folder)
        draft = self._folder / f"{workflow}.draft"
        store = f"sqlite:{draft}"
        with Client.open(store=store, durable=False, beside=self._main) as client:
            self._main.nodes.copy([workflow], client.nodes)
            client.nodes.copy_all(template)
