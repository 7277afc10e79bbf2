"""The options of the agent, as `agents.<alias>.options` of the configuration has them."""

from dataclasses import dataclass

from uwf_agent_acp.agent.options import ProgramOptions


@dataclass(frozen=True, kw_only=True)
class HermesOptions(ProgramOptions):
    """The options of an alias, besides those of all agents of the protocol.

    Attributes:
        extra_arguments: of `hermes acp`, after that word.
        home: Hermes' folder (`HERMES_HOME`); None leaves it to the environment, else `~/.hermes`.
        provider: the provider of `model` as Hermes knows it; None is the one in use.
        mode: Hermes' rule for file edits: `default` asks for each, `accept_edits` for those
            outside the working folder and /tmp and for sensitive files, `dont_ask` for sensitive
            ones alone. None is `accept_edits`, or `default` where `permission` is `deny`.
        memory: let it use what crosses its sessions: notes (`memory`), a search in other sessions
            (`session_search`) and skills that it writes (`skill_manage`).
        max_turns: as of all agents; Hermes itself ends after 90.
    """

    command: str = "hermes"
    extra_arguments: tuple[str, ...] = ()
    home: str | None = None
    provider: str | None = None
    memory: bool = False

    def __post_init__(self) -> None:
        """Refuse what makes no sense.

        Raises:
            ValueError: one of the options.
        """
        super().__post_init__()
        if self.provider is not None and self.model is None:
            raise ValueError("provider needs model beside it")

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
