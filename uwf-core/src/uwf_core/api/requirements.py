"""What agents refuse to run without. A run and `uwf agent check` ask these functions, and so does
`uwf agent list`, which imports no plugin.
"""

from typing import TYPE_CHECKING

from uwf_core.errors import BadRequest, Unavailable

if TYPE_CHECKING:
    from uwf_core.api.models import Model


def require_command(command: str | None) -> str:
    """The program of the agent `acp`, which has no program without a setting.

    Raises:
        BadRequest: none is named.
    """
    if not command:
        raise BadRequest(
            "the agent 'acp' needs the option `command`",
            hint="agents: {mine: {use: acp, options: {command: PROGRAM, arguments: […]}}}",
        )
    return command


def require_model(model: "Model | None") -> "Model":
    """The model of the builtin agent.

    Raises:
        Unavailable: none is configured.
    """
    if model is None:
        raise Unavailable(
            "the builtin agent needs a model, but none is configured",
            hint="uwf setup --provider openai --api-key - --model NAME (or ollama, without a key)",
        )
    return model
