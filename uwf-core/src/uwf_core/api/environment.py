"""Environment variables: those that hold a secret, by their names, and those that a program gets.

Pure except for `exists`.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

SHORTEST = 8
"""Shorter values occur by chance in ordinary text; they are masked by their name only."""

_SECRET_WORDS = frozenset((
    "AUTH", "AUTHORIZATION", "BEARER", "COOKIE", "KEY", "KEYS", "APIKEY", "TOKEN", "SECRET",
    "SECRETS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "PASSCODE", "PWD", "PAT",
    "CREDENTIAL", "CREDENTIALS", "CREDS",
))  # fmt: skip
_SECRET_ENDS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "CREDENTIALS")
"""The ends of compound words: DBPASSWORD, AUTHTOKEN."""
_HARMLESS_ENDS = frozenset((
    "ALG", "ALGORITHM", "AUDIENCE", "BACKEND", "BINDING", "BINDINGS", "COUNT", "DIR", "DIRECTORY",
    "ENABLED", "ENCODING", "ENDPOINT", "ENV", "EXPIRY", "FIELD", "FILE", "FILENAME", "FOLDER",
    "FORMAT", "HEADER", "HELPER", "HOME", "HOST", "HOSTNAME", "ISSUER", "LAYOUT", "LENGTH",
    "LIFETIME", "LIMIT", "MANAGER", "MAP", "MODE", "NAME", "PATH", "POLICY", "PORT", "PREFIX",
    "PROJECT", "PROMPT", "PROVIDER", "REGION", "SIZE", "SOCK", "SOCKET", "STORE", "SUFFIX",
    "TIMEOUT", "TTL", "TYPE", "URI", "URL", "USER", "USERNAME", "VERSION",
))  # fmt: skip
"""Last words of names that mention a secret but hold none: TOKEN_URL, PASSWORD_STORE_DIR."""
_FOLDER_NAMES = frozenset(("PWD", "OLDPWD"))
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PASSWORD_OPTION = re.compile(r"[?&](?:ssl)?password=([^&#]*)")
_HEX = re.compile(rb"%([0-9a-fA-F]{2})")
_NEVER = frozenset(("UWF_STORE",))
"""Variables that no program gets, even if the settings name them: a URL may have a password."""
_USER_INFO = re.compile(r"://[^/?#\s]*@")


def secrets_of_environment(
    env: Mapping[str, str], *, exists: Callable[[str], bool] = os.path.exists
) -> set[str]:
    """The values of the variables with secret names.

    A name is secret by a whole word (`OPENAI_API_KEY`, `githubToken`, `DB_PASSWD`; not `MONKEY`),
    unless its last word makes it harmless (`TOKEN_URL`, `PASSWORD_STORE_DIR`). A value that is an
    existing path is not a secret.
    """
    return {
        value
        for name, value in env.items()
        if len(value) >= SHORTEST
        and is_secret_name(name, value)
        and not (value.startswith("/") and exists(value))
    }


def is_secret_name(name: str, value: str = "") -> bool:
    """Whether a variable of this name holds a secret; an address counts if it names a password."""
    last = _last_word_of_secret(name)
    return last is not None and (last not in _HARMLESS_ENDS or bool(_USER_INFO.search(value)))


@lru_cache(maxsize=1024)
def _last_word_of_secret(name: str) -> str | None:
    """The last word of a name that mentions a secret; None if it mentions none."""
    if name in _FOLDER_NAMES:
        return None
    words = [word.upper() for word in _WORDS.findall(name)]
    tells = any(word in _SECRET_WORDS or word.endswith(_SECRET_ENDS) for word in words)
    return words[-1] if tells else None


def passwords_in(url: str) -> Iterator[str]:
    """The passwords in `scheme://user:password@host/…?password=…`, as they are written there and
    as they are meant.
    """
    _, slashes, rest = url.partition("://")
    user, at, _ = rest.partition("/")[0].partition("?")[0].rpartition("@")
    found = [user.partition(":")[2]] if slashes and at else []
    found += _PASSWORD_OPTION.findall(rest) if "password=" in rest else []
    for password in filter(None, found):
        yield password
        if "%" in password:
            yield _HEX.sub(lambda code: bytes((int(code[1], 16),)), password.encode()).decode(
                "utf-8", "replace"
            )


def without_passwords(url: str) -> str:
    """A URL as people may see it."""
    for password in passwords_in(url):
        url = url.replace(password, "********")
    return url


USUAL = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "LANG", "LANGUAGE", "LC_*"),
    *("TZ", "TMPDIR", "TMP", "TEMP", "XDG_*", "UWF_HOME", "UWF_BLOCK_PLUGINS"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"),
    *("NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO"),
)
"""The variables of every program. With `UWF_HOME` an agent can read its thread; plugins that
are blocked here are also blocked when it calls uwf."""


def passed_on(env: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The variables of `env` that are standard or that `names` declares; `*` at the end of a name
    matches any suffix.
    """
    exact, prefixes = _by_kind(tuple(names))
    return {
        name: value
        for name, value in env.items()
        if (name in exact or name.startswith(prefixes)) and name not in _NEVER
    }


@lru_cache(maxsize=64)
def _by_kind(names: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """The standard names and these: whole names, and beginnings of names."""
    wanted = (*USUAL, *names)
    exact = frozenset(name for name in wanted if not name.endswith("*"))
    return exact, tuple(name[:-1] for name in wanted if name.endswith("*"))
