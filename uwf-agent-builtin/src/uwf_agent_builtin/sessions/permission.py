"""Permission to run a command, asked of a person: for this command, for this step, or never.

The session keeps which call was asked about, so an answer holds for the command that the person saw
and for no other one.
"""

from collections.abc import Mapping
from typing import Any, Final

from uwf_agent_builtin.sessions.transcript import Transcript
from uwf_agent_builtin.tools.errors import ToolError
from uwf_core.api import NeedsAnswer, permission_form

ONCE: Final = "once"
STEP: Final = "step"
NEVER: Final = "never"
FORM = permission_form(
    ONCE,
    STEP,
    NEVER,
    about="once: run this command. step: run this and all further commands of this step. never: "
    "run no command in this session.",
)


class Permission:
    """What a person allowed in a session.

    Args:
        transcript: the session. step: the number of the step.
        answer: the person's answer to the question of this session, if there is one.
    """

    def __init__(
        self, transcript: Transcript, step: int, answer: Mapping[str, Any] | None = None
    ) -> None:
        self._transcript = transcript
        self._step = step
        self._call = ""
        given = (answer or {}).get("decision")
        self._once = transcript.asked if given == ONCE else None
        if given in (STEP, NEVER):
            transcript.permit(given, step)

    def begin(self, call_id: str) -> None:
        """The next `require` is about this call."""
        self._call = call_id

    def require(self, command: str, who: str) -> None:
        """Return if the command may run.

        Raises:
            ToolError: a person said never.
            NeedsAnswer: a person must decide.
        """
        permissions = self._transcript.permissions
        if any(answer == NEVER for answer, _ in permissions):
            raise ToolError("the user does not allow commands; work without them")
        if (STEP, self._step) in permissions or (self._once and self._once == self._call):
            return
        self._transcript.ask(self._call)
        raise NeedsAnswer(f"{who} wants to run this command:\n\n{command}", FORM)
