"""Which values are secrets: what is never printed, and what is taken out before storing."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uwf_core.config.settings import Settings

MASK = "********"
_LONG_ENOUGH = 8
"""Shorter values occur by chance in ordinary text; they are masked by their name only."""

_WORDS = frozenset(
    (
        *("apikey", "auth", "authorization", "bearer", "cookie", "credential", "credentials"),
        *("key", "passphrase", "passwd", "password", "pat", "pwd", "secret", "token"),
    )
)
_ENDINGS = ("apikey", "password", "passwd", "passphrase", "secret", "token", "credentials")
_ABOUT = frozenset(("dir", "env", "file", "folder", "name", "path", "sock", "socket", "url"))
"""Last words that say that the value is not the secret but about it (`SSH_AUTH_SOCK`)."""
_FOLDERS = frozenset(("PWD", "OLDPWD"))


def secrets(settings: "Settings") -> frozenset[str]:
    """Every secret value that is known: keys of providers, values of secret-named variables (of
    the environment and `.env`) and options, passwords in addresses. Redaction takes these.
    """
    found = set(_of_providers(settings))
    for name, value in settings.environment.items():
        if is_secret_name(name):
            found.add(value)
        found.update(_url_password(value))
    for agent in settings.agents.values():
        found.update(_in_options(agent.options))
    found.update(_url_password(settings.store))
    return frozenset(value for value in found if value.strip())


def is_secret_name(name: str) -> bool:
    """Whether what bears this name (`OPENAI_API_KEY`, `apiKey`, `github-token`) is a secret."""
    words = list(_words(name))
    if not words or name in _FOLDERS or words[-1] in _ABOUT:
        return False
    return any(word in _WORDS or word.endswith(_ENDINGS) for word in words)


def masked(settings: "Settings", value: Any) -> Any:
    """A JSON-like value with what bears a secret's name, and every known secret, masked."""
    known = sorted((each for each in secrets(settings) if len(each) >= _LONG_ENOUGH), key=len)
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
    for secret in (*known, *_url_password(value)):
        value = value.replace(secret, MASK)
    return value


def _of_providers(settings: "Settings") -> Iterator[str]:
    for provider in settings.providers.values():
        for value in (provider.api_key, settings.api_key(provider)):
            if value is not None:
                yield value
        yield from _url_password(provider.base_url or "")


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


def _url_password(text: str) -> Iterator[str]:
    """The password of `scheme://user:password@host`, if there is one."""
    _, _, rest = text.partition("://")
    user, at, _ = rest.partition("/")[0].rpartition("@")
    _, colon, password = user.partition(":")
    if at and colon and password:
        yield password


def _words(name: str) -> Iterator[str]:
    """The words of a name in snake, kebab or camel case, lower case."""
    word = ""
    for character in name:
        if not character.isalnum():
            if word:
                yield word.lower()
            word = ""
        elif character.isupper() and word and not word[-1].isupper():
            yield word.lower()
            word = character
        else:
            word += character
    if word:
        yield word.lower()
