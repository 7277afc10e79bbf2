"""A recorded call of another thread, and a delivered file, as views and exporters read them."""

from collections.abc import Iterator
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


class RecordedFile(Protocol):
    """A file that a role delivered, as it was when its step was stored."""

    @property
    def path(self) -> str:
        """The path as the role wrote it; in a step of branches with the name or number of the
        branch and a slash before it.
        """

    @property
    def ref(self) -> str:
        """The reference of its node."""

    @property
    def size(self) -> int:
        """Its bytes."""

    @property
    def mode(self) -> int:
        """Its permissions, such as 0o644."""

    def chunks(self) -> Iterator[bytes]:
        """Its bytes, in chunks of at most 1 MB."""

    def read(self) -> bytes:
        """All of its bytes."""
