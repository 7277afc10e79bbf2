"""The options of an agent, as `agents.<alias>.options` of the configuration has them."""

from dataclasses import dataclass, field
from typing import Literal

from uwf_core.api import Seconds, require_numbers

Permission = Literal["allow", "deny", "ask"]


@dataclass(frozen=True, kw_only=True)
class ProgramOptions:
    """The options that every agent of the protocol has. The rest comes from its own configuration.

    Attributes:
        command: the program, looked up on the PATH; None is the agent's usual one.
        environment: variables to add to the program's environment.
        model: a model as the agent names it; None is the one of its configuration.
        mode: a mode of its sessions, as the agent names it; None leaves the agent's own.
        permission: the answer when the agent asks: yes, no, or a person's (the thread waits).
        max_turns: turns of the model with tools in one call, at most.
        timeout: seconds for one call of the agent; the session is kept.
    """

    command: str | None = None
    environment: dict[str, str] = field(default_factory=dict, repr=False)
    model: str | None = None
    mode: str | None = None
    permission: Permission = "ask"
    max_turns: int | None = None
    timeout: Seconds | None = None

    def __post_init__(self) -> None:
        """Reject impossible values.

        Raises:
            ValueError: one of the options.
        """
        if self.command is not None and not self.command.strip():
            raise ValueError("command must name a program")
        require_numbers(self, max_turns=0, timeout=0)


@dataclass(frozen=True, kw_only=True)
class AcpOptions(ProgramOptions):
    """The options of an alias.

    Attributes:
        arguments: of the program; None are the usual ones.
    """

    arguments: tuple[str, ...] | None = None
