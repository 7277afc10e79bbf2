"""The options of the agent, as `agents.<alias>.options` of the configuration has them."""

from dataclasses import dataclass, field

from uwf_agent_acp.agent.profile import Permission


@dataclass(frozen=True, kw_only=True)
class HermesOptions:
    """The options of an alias. The rest comes from Hermes' own configuration.

    Attributes:
        command: the program, looked up on the PATH.
        extra_arguments: of `hermes acp`, after that word.
        home: Hermes' folder (`HERMES_HOME`); None leaves it to the environment, else `~/.hermes`.
        environment: variables to add to the program's environment.
        model: the model's name as Hermes knows it; None is the one of its configuration.
        provider: the provider of `model` as Hermes knows it; None is the one in use.
        mode: Hermes' rule for file edits: `default` asks for each, `accept_edits` for those
            outside the working folder and /tmp and for sensitive files, `dont_ask` for sensitive
            ones alone. None is `accept_edits`, or `default` where `permission` is `deny`.
        permission: the answer to a request of Hermes: yes, no, or a person's (the thread waits).
        memory: let it use what crosses its sessions: notes (`memory`), a search in other sessions
            (`session_search`) and skills that it writes (`skill_manage`).
        max_turns: turns of the model with tools in one call of the agent, at most; Hermes itself
            ends after 90.
        timeout: seconds for one call of the agent; the session is kept.
    """

    command: str = "hermes"
    extra_arguments: tuple[str, ...] = ()
    home: str | None = None
    environment: dict[str, str] = field(default_factory=dict, repr=False)
    model: str | None = None
    provider: str | None = None
    mode: str | None = None
    permission: Permission = "ask"
    memory: bool = False
    max_turns: int | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        """Refuse what makes no sense.

        Raises:
            ValueError: one of the options.
        """
        if not self.command.strip():
            raise ValueError("command must name a program")
        if self.provider is not None and self.model is None:
            raise ValueError("provider needs model beside it")
        for key, value in (("maxTurns", self.max_turns), ("timeout", self.timeout)):
            if value is not None and value <= 0:
                raise ValueError(f"{key} must be above 0")

    @property
    def model_id(self) -> str | None:
        """The model as `session/set_model` takes it."""
        if self.model is None or self.provider is None:
            return self.model
        return f"{self.provider}:{self.model}"

    @property
    def edit_mode(self) -> str:
        """The mode that a session is put into."""
        return self.mode or ("default" if self.permission == "deny" else "accept_edits")
