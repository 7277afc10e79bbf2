"""From a model's name in the configuration to the record that agents get."""

from typing import TYPE_CHECKING

from uwf_core.errors import ConfigError
from uwf_core.fields.mismatch import suggestion

if TYPE_CHECKING:
    from uwf_core.api.models import Model
    from uwf_core.config.settings import Settings


def resolve_model(settings: "Settings", alias: str) -> "Model":
    """The model named `alias` with its provider, as agents get it.

    Its key is None if there is none; the environment variable may be missing.

    Raises:
        ConfigError: it, its provider or a required value is missing.
    """
    from uwf_core.api.models import Model, Price  # the contract's records are not free to import

    model = settings.models.get(alias)
    if model is None:
        hint = suggestion(alias, settings.models) or "configure a model with `uwf setup`"
        raise ConfigError(f"unknown model {alias!r}", hint=hint)
    if model.name is None or model.provider is None:
        missing = "name" if model.name is None else "provider"
        raise _incomplete(settings, ("models", alias), missing)
    provider = settings.providers.get(model.provider)
    if provider is None:
        raise ConfigError(
            f"unknown provider {model.provider!r} of the model {alias!r}",
            where=settings.origin(("models", alias)).place,
            hint=f"uwf setup --provider {model.provider}; {suggestion(alias, settings.providers)}",
        )
    if provider.base_url is None:
        raise _incomplete(settings, ("providers", model.provider), "baseUrl")
    return Model(
        alias=alias,
        name=model.name,
        provider=model.provider,
        base_url=provider.base_url,
        api_key=settings.api_key(provider),
        price=None if model.price is None else Price(**model.price._asdict()),
        extra=model.extra,
        protocol=provider.protocol,
        end_mark=provider.end_mark,
    )


def _incomplete(settings: "Settings", path: tuple[str, str], missing: str) -> ConfigError:
    key = ".".join(path)
    return ConfigError(
        f"{key} has no {missing}",
        where=settings.origin(path).place,
        hint=f"uwf config set {key}.{missing} …",
    )
