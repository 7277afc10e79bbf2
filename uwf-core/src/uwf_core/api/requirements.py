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


def require_numbers(options: object, **least: float) -> None:
    """Check that each of these options is None, or as large; 0: above 0.

    Raises:
        ValueError: one is not.
    """
    for name, bound in least.items():
        value = getattr(options, name)
        if value is not None and (value < bound or value <= 0):
            from uwf_core.fields.records import camel

            rule = f"at least {bound}" if bound else "above 0"
            raise ValueError(f"{camel(name)} must be {rule}")


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
