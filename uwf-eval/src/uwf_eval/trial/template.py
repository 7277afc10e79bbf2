"""Workflows in memory, from where the store of each trial gets the one that it runs."""

from uwf_core.client import Client

IN_MEMORY = "memory:"


class Templates:
    """Stores with one workflow each.

    Args:
        main: a client of the main store, that has the workflows.
    """

    def __init__(self, main: Client) -> None:
        self._main = main
        self._known: dict[str, Client] = {}

    def copy(self, workflow: str, target: Client) -> None:
        """Put a workflow (its reference) into another store.

        Raises:
            UwfError: it is not there, or damaged.
        """
        if workflow not in self._known:
            client = Client.open(store=IN_MEMORY, durable=False, beside=self._main)
            self._main.nodes.copy([workflow], client.nodes)
            self._known[workflow] = client
        self._known[workflow].nodes.copy([workflow], target.nodes)
