"""Guess secrets by their pattern only: for logs and errors, never for stored data."""

import re
from functools import cache

from uwf_core.api.redact import REPLACEMENT


def guess(text: str) -> str:
    """Redact what looks like a secret in `text`: keys of known services, tokens after
    `Bearer`, values after `password=`, passwords in addresses, private keys. For logs and errors.
    """
    return _shapes().sub(lambda found: (found["keep"] or "") + REPLACEMENT, text)


@cache
def _shapes() -> re.Pattern[str]:
    """The patterns, compiled when first needed."""
    return re.compile(
        r"""
          (?P<keep>\b(?:Bearer|Basic)\s+ | \b(?:api[_-]?key|access[_-]?key|(?:auth|access)[_-]?token
            |token|secret|password|passwd)\b["']?\s*[=:]\s*["']?
            # A port or a path is not a password: a password ends with an `@`.
            | ://[^\s/:@?\#]{1,256}: (?=[^\s"'&,;@]{8,256}@) )
          (?P<value>[^\s"'&,;@]{8,})
        | \b(?: sk-[\w-]{16,} | gh[oprsu]_\w{20,} | github_pat_\w{20,} | glpat-[\w-]{16,}
            | xox[a-z]-[\w-]{10,} | (?:AKIA|ASIA)[0-9A-Z]{16} | AIza[\w-]{35} | hf_\w{20,}
            | npm_\w{30,} | pypi-[\w-]{30,} | eyJ[\w-]{10,}\.[\w-]{5,}\.[\w-]* )
        | -----BEGIN\ [A-Z ]{0,40}PRIVATE\ KEY-----(?:[^-]|-(?!----))*(?:-----END[^\n]{0,60})?
        """,
        re.VERBOSE | re.IGNORECASE,
    )
