"""A recorded call of another thread, as views and exporters read it."""

from typing import Protocol


class RecordedCall(Protocol):
    """A call of another thread: of a workflow that plays a role, or of a branch."""

    @property
    def thread(self) -> str:
        """The called thread."""

    @property
    def role(self) -> str:
        """The role that it plays."""

    @property
    def caller_role(self) -> str:
        """The role of the step that the call is: a workflow's, or `SOURCE/STATUS` of branches."""

    @property
    def key(self) -> str | None:
        """Of a branch: its name, or its number in the list; None for other calls."""

    @property
    def event(self) -> str | None:
        """The node of the call; None if the called thread is gone."""

    @property
    def prompt_ref(self) -> str | None:
        """The node of the instruction; None if the called thread is gone."""

    @property
    def prompt(self) -> str | None:
        """The instruction; None if the called thread is gone."""

    @property
    def status(self) -> str | None:
        """Of a branch that has ended: its `$status`, `$cancelled` if it was cancelled."""

    @property
    def end(self) -> str | None:
        """The last step of the called thread in this call; its start if it took none. None for an
        open call and for one that failed.
        """

    @property
    def state(self) -> str | None:
        """The status of the called thread now (as `RecordedThread.status`); None if it is gone."""
