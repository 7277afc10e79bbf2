"""What is secret: by the name of a variable, or by the shape of a text. Pure but for `exists`."""

import os
import re
from collections.abc import Callable, Mapping

from uwf_core.agents.redact import REPLACEMENT, SHORTEST

_SECRET_WORDS = frozenset(
    [
        "KEY",
        "KEYS",
        "APIKEY",
        "TOKEN",
        "SECRET",
        "SECRETS",
        "PASSWORD",
        "PASSWORDS",
        "PASSWD",
        "PASSPHRASE",
        "PASSCODE",
        "PWD",
        "PAT",
        "CREDENTIAL",
        "CREDENTIALS",
        "CREDS",
    ]
)
_SECRET_ENDS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY")
"""How a word may end that was written together: DBPASSWORD, AUTHTOKEN."""
_HARMLESS_ENDS = frozenset(
    [
        "ALG",
        "ALGORITHM",
        "AUDIENCE",
        "BACKEND",
        "BINDING",
        "BINDINGS",
        "COUNT",
        "DIR",
        "DIRECTORY",
        "ENABLED",
        "ENCODING",
        "ENDPOINT",
        "EXPIRY",
        "FIELD",
        "FILE",
        "FILENAME",
        "FOLDER",
        "FORMAT",
        "HEADER",
        "HELPER",
        "HOME",
        "HOST",
        "HOSTNAME",
        "ISSUER",
        "LAYOUT",
        "LENGTH",
        "LIFETIME",
        "LIMIT",
        "MANAGER",
        "MAP",
        "MODE",
        "NAME",
        "PATH",
        "POLICY",
        "PORT",
        "PREFIX",
        "PROJECT",
        "PROMPT",
        "PROVIDER",
        "REGION",
        "SIZE",
        "SOCK",
        "SOCKET",
        "STORE",
        "SUFFIX",
        "TIMEOUT",
        "TTL",
        "TYPE",
        "URI",
        "URL",
        "USER",
        "USERNAME",
        "VERSION",
    ]
)
"""Last words of names that tell about a secret and are none: TOKEN_URL, PASSWORD_STORE_DIR."""
_FOLDER_NAMES = frozenset(("PWD", "OLDPWD"))
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_USER_INFO = re.compile(r"://[^/?#\s]*@")


def secrets_of_environment(
    env: Mapping[str, str], *, exists: Callable[[str], bool] = os.path.exists
) -> set[str]:
    """The values of the variables whose names say that they are secret.

    A name says so by a whole word (`OPENAI_API_KEY`, `githubToken`, `DB_PASSWD`; not `MONKEY`),
    unless its last word makes it something harmless (`TOKEN_URL`, `PASSWORD_STORE_DIR`). A value
    that is the path of something that exists is none.
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
    if name in _FOLDER_NAMES:
        return False
    words = [word.upper() for word in _WORDS.findall(name)]
    if not any(word in _SECRET_WORDS or word.endswith(_SECRET_ENDS) for word in words):
        return False
    return words[-1] not in _HARMLESS_ENDS or bool(_USER_INFO.search(value))


_SHAPES = re.compile(
    r"""
      (?P<keep>\b(?:Bearer|Basic)\s+ | \b(?:api[_-]?key|access[_-]?key|(?:auth|access)[_-]?token
        |token|secret|password|passwd)\b["']?\s*[=:]\s*["']? | ://[^\s/:@?\#]{1,256}: )
      (?P<value>[^\s"'&,;@]{8,})
    | \b(?: sk-[\w-]{16,} | gh[oprsu]_\w{20,} | github_pat_\w{20,} | glpat-[\w-]{16,}
        | xox[a-z]-[\w-]{10,} | (?:AKIA|ASIA)[0-9A-Z]{16} | AIza[\w-]{35} | hf_\w{20,}
        | npm_\w{30,} | pypi-[\w-]{30,} | eyJ[\w-]{10,}\.[\w-]{5,}\.[\w-]* )
    | -----BEGIN\ [A-Z ]{0,40}PRIVATE\ KEY-----(?:[^-]|-(?!----))*(?:-----END[^\n]{0,60})?
    """,
    re.VERBOSE | re.IGNORECASE,
)


def guess(text: str) -> str:
    """`text` without what has the shape of a secret: keys of known services, tokens after
    `Bearer`, values after `password=`, passwords in addresses, private keys. For logs and errors.
    """
    return _SHAPES.sub(lambda found: (found["keep"] or "") + REPLACEMENT, text)
