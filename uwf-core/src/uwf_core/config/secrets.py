"""Find secrets: values that are never printed, and redacted before storing."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.api.environment import (
    SHORTEST,
    is_secret_name,
    passwords_in,
    secrets_of_environment,
)

if TYPE_CHECKING:
    from uwf_core.config.settings import Settings

MASK = "********"


def secrets(settings: "Settings") -> frozenset[str]:
    """Every secret value that is known: keys of providers, values of secret-named variables (of
    the environment and `.env`) and options, passwords in addresses. Redaction takes these.
    """
    found = set(_of_providers(settings))
    found |= secrets_of_environment(settings.environment)
    for value in settings.environment.values():
        if "://" in value:
            found.update(passwords_in(value))
    for agent in settings.agents.values():
        found.update(_in_options(agent.options))
    found.update(passwords_in(settings.store))
    found.update(settings.notify.services)  # their addresses contain tokens
    return frozenset(value for value in found if value.strip())


def masked(settings: "Settings", value: Any) -> Any:
    """Mask known secrets and values under secret-like names in a JSON-like value."""
    known = sorted((each for each in secrets(settings) if len(each) >= SHORTEST), key=len)
    return _masked(value, known[::-1])


def _masked(value: Any, known: list[str]) -> Any:
    if isinstance(value, dict):
        return {
            key: MASK if isinstance(each, str) and is_secret_name(key) else _masked(each, known)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [_masked(each, known) for each in value]
    if not isinstance(value, str):
        return value
    for secret in (*known, *passwords_in(value)):
        value = value.replace(secret, MASK)
    return value


def _of_providers(settings: "Settings") -> Iterator[str]:
    for provider in settings.providers.values():
        for value in (provider.api_key, settings.api_key(provider)):
            if value is not None:
                yield value
        yield from passwords_in(provider.base_url or "")


def _in_options(value: Any) -> Iterator[str]:
    """The texts under secret names, at any depth."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            if isinstance(each, str) and is_secret_name(key):
                yield each
            yield from _in_options(each)
    elif isinstance(value, list):
        for each in value:
            yield from _in_options(each)
