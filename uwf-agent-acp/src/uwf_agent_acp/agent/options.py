"""The options of an agent, as `agents.<alias>.options` of the configuration has them."""

from dataclasses import dataclass, field

from uwf_agent_acp.agent.profile import Permission


@dataclass(frozen=True, kw_only=True)
class AcpOptions:
    """The options of an alias. The rest comes from the agent's own configuration.

    Attributes:
        command: the program, looked up on the PATH; None is the agent's usual one.
        arguments: its arguments; None are the usual ones.
        environment: variables to add to the program's environment.
        model: a model as the agent names it; None is the one of its configuration.
        mode: a mode of its sessions, as the agent names it; None leaves the agent's own.
        permission: the answer when the agent asks: yes, no, or a person's (the thread waits).
        max_turns: turns of the model with tools in one call, at most.
        timeout: seconds for one call of the agent; the session is kept.
    """

    command: str | None = None
    arguments: tuple[str, ...] | None = None
    environment: dict[str, str] = field(default_factory=dict, repr=False)
    model: str | None = None
    mode: str | None = None
    permission: Permission = "ask"
    max_turns: int | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        """Reject impossible values.

        Raises:
            ValueError: one of the options.
        """
        if self.command is not None and not self.command.strip():
            raise ValueError("command must name a program")
        for key, value in (("maxTurns", self.max_turns), ("timeout", self.timeout)):
            if value is not None and value <= 0:
                raise ValueError(f"{key} must be above 0")
