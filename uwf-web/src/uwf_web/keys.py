"""The secrets of the page: the key behind cookies and forms, the name of its host, login tokens.

All are files below uwf's home, so that a restart logs nobody out and the server holds no state.
"""

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import time
from pathlib import Path
from typing import NamedTuple

from uwf_core.commands import replaced_file

KEY_FILE = "web.key"
TOKENS = "web.tokens"
TOKEN_SECONDS = 600
"""How long a link with a token works."""
COOKIE_SECONDS = 30 * 24 * 3600


class Keys(NamedTuple):
    """What `web.key` holds: the key, and the host name by which browsers keep our cookies apart
    from those of other servers on this machine.
    """

    secret: bytes
    host: str

    def sign(self, purpose: str, text: str) -> str:
        """The signature of a text for one purpose."""
        return hmac.new(self.secret, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()

    def new_cookie(self) -> str:
        """A cookie's value: when it began, a random name of the session, and the signature."""
        body = f"{int(time.time())}.{secrets.token_hex(8)}"
        return f"{body}.{self.sign('cookie', body)}"

    def session_of(self, cookie: str) -> str | None:
        """The session of a cookie that is signed and at most 30 days old, else None."""
        body, _, signature = cookie.rpartition(".")
        if not hmac.compare_digest(signature.encode(), self.sign("cookie", body).encode()):
            return None
        began, _, session = body.partition(".")
        return session if time.time() - int(began) < COOKIE_SECONDS else None

    def csrf_of(self, session: str) -> str:
        """The value that the forms of a session carry."""
        return self.sign("csrf", session)[:32]


def read_keys(home: Path, *, renew: bool = False) -> Keys:
    """The keys of this home, made on first use; `renew` replaces the key and keeps the host."""
    file = home / KEY_FILE
    try:
        stored = json.loads(file.read_text("utf-8"))
        known = Keys(bytes.fromhex(stored["key"]), str(stored["host"]))
        if not renew:
            return known
        host = known.host
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        host = f"uwf-{secrets.token_hex(8)}.localhost"
    fresh = Keys(secrets.token_bytes(32), host)
    write_private(file, json.dumps({"key": fresh.secret.hex(), "host": fresh.host}))
    return fresh


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner may read, all of it or nothing.

    Raises:
        UsageError: it cannot be written; the file is unchanged.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with replaced_file(file, "what the server keeps") as stream:
        stream.write(text.encode())


def new_token(home: Path) -> str:
    """A token that logs in once, within `TOKEN_SECONDS`; its file has the digest as its name."""
    folder = home / TOKENS
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # used meanwhile
            if time.time() - old.stat().st_mtime > TOKEN_SECONDS:
                old.unlink()
    token = secrets.token_urlsafe(24)
    os.close(os.open(folder / _digest(token), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return token


def use_token(home: Path, token: str) -> bool:
    """Use a token: whether it exists, is unused and younger than `TOKEN_SECONDS`."""
    file = home / TOKENS / _digest(token)
    try:
        age = time.time() - file.stat().st_mtime
        file.unlink()  # of two requests, one succeeds
    except FileNotFoundError:
        return False
    return age <= TOKEN_SECONDS


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
