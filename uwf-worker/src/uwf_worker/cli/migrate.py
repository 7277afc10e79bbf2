"""`uwf worker migrate`."""

from uwf_core.commands import Session, command, working_folder


@command("migrate", "uwf worker migrate", logged=True)
def migrate(session: Session) -> None:
    """Create the tables of the queue and of schedules in the schema of the store.

    The role needs the right to create tables there; `uwf worker start` needs none.
    """
    from uwf_core.client import Client
    from uwf_worker.cli.opening import place_of_store
    from uwf_worker.migrating import migrate_queue

    with Client.open(cwd=working_folder()) as client:
        applied = migrate_queue(place_of_store(client))
    session.emit({"applied": applied}, lambda shown, _: ", ".join(shown["applied"]) or "up to date")
