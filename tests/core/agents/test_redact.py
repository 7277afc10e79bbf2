"""No secret is stored: whatever form it has, and however the text is cut."""

import base64
import json
import re
import time
import urllib.parse
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_core.api.encodings import SHORTEST_FOLDED
from uwf_core.api.environment import is_secret_name, secrets_of_environment
from uwf_core.api.redact import REPLACEMENT, SHORTEST, Redactor, guess

ESCAPED = '\\"/n\n<&%\u00e9a'
"""What encodings change, and what they make of it."""
SECRETS = st.one_of(
    st.text(min_size=8, max_size=30), st.text(ESCAPED, min_size=8, max_size=14)
).filter(
    lambda value: (
        value not in REPLACEMENT
        and REPLACEMENT not in value
        and len(value.replace("\\", "")) >= SHORTEST_FOLDED
    )
)
TEXTS = st.one_of(st.text(max_size=40), st.text(ESCAPED, max_size=12))


def in_base64(before: str, secret: str, after: str) -> str:
    return base64.b64encode((before + secret + after).encode(errors="replace")).decode()


ENCODINGS = {
    "plain": lambda value: value,
    "json": lambda value: json.dumps(value)[1:-1],
    "json, not ascii": lambda value: json.dumps(value, ensure_ascii=False)[1:-1],
    "json, upper case": lambda value: re.sub(
        r"(?<=\\u)[0-9a-f]{4}", lambda code: code[0].upper(), json.dumps(value)[1:-1]
    ),
    "json in json": lambda value: json.dumps(json.dumps(value))[3:-3],
    "json with escaped slashes": lambda value: json.dumps(value)[1:-1].replace("/", "\\/"),
    "url": lambda value: urllib.parse.quote(value, safe="", errors="replace"),
    "path": lambda value: urllib.parse.quote(value, errors="replace"),
    "form": lambda value: urllib.parse.quote_plus(value, errors="replace"),
}


def _as_escape(sign: re.Match[str]) -> str:
    return f"\\u{ord(sign[0]):04x}"


def in_json(value: str, levels: str) -> str:
    """JSON within JSON, a letter for each level: only ASCII, Unicode, `/` or `<>&` as escapes."""
    for level in levels:
        value = json.dumps(value, ensure_ascii=level != "u")[1:-1]
        value = value.replace("/", r"\/") if level == "/" else value
        value = re.sub("[<>&]", _as_escape, value) if level == "<" else value
    return value


@settings(max_examples=60, deadline=None)
@given(TEXTS, SECRETS, TEXTS, st.sampled_from(sorted(ENCODINGS)))
def test_no_secret_survives_in_any_encoding(
    before: str, secret: str, after: str, encoding: str
) -> None:
    form = ENCODINGS[encoding](secret)
    redactor = Redactor([secret])
    clean = redactor.text(before + form + after)
    assert REPLACEMENT in clean
    assert form not in clean
    assert redactor.text(clean) == clean


@settings(max_examples=100, deadline=None)
@given(TEXTS, SECRETS, TEXTS, st.text("au/<", min_size=1, max_size=6))
def test_no_secret_survives_in_json_however_many_texts_stand_within_each_other(
    before: str, secret: str, after: str, levels: str
) -> None:
    """A tool's arguments hold a command, that a file, that a reply: each is JSON once more."""
    clean = Redactor([secret]).text(in_json(before + secret + after, levels))
    assert REPLACEMENT in clean
    assert in_json(secret, levels) not in clean
    assert not re.search(re.escape(secret).replace(r"\\", r"\\+"), clean)


@settings(max_examples=60, deadline=None)
@given(TEXTS, SECRETS, TEXTS, st.booleans())
def test_no_secret_survives_in_base64_wherever_it_stands_in_what_is_encoded(
    before: str, secret: str, after: str, url_safe: bool
) -> None:
    encoded = in_base64(before, secret, after)
    if url_safe:
        encoded = encoded.replace("+", "-").replace("/", "_")
    clean = Redactor([secret]).text(encoded)
    assert REPLACEMENT in clean
    # What is left besides are the characters that the neighbours decide, whole or in part.
    kept = len(clean) - len(REPLACEMENT)
    neighbours = len((before + after).encode(errors="replace"))
    assert kept <= neighbours * 8 / 6 + 8


@settings(max_examples=100, deadline=None)
@given(
    st.lists(SECRETS, min_size=1, max_size=3),
    st.data(),
)
def test_a_text_in_chunks_is_redacted_as_the_whole_however_it_is_cut(
    secrets: list[str], data: st.DataObject
) -> None:
    pieces = st.lists(st.one_of(st.sampled_from(secrets), TEXTS), max_size=8)
    whole = "".join(data.draw(pieces))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    redactor = Redactor(secrets)
    stream = redactor.stream()
    ends = [*cuts, len(whole)]
    given_ = [stream.feed(whole[start:end]) for start, end in zip([0, *cuts], ends, strict=True)]
    assert "".join([*given_, stream.end()]) == redactor.text(whole)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_overlapping_and_repeating_secrets_in_small_chunks(size: int) -> None:
    redactor = Redactor(["abababab", "babababac", "xxxxxxxx"])
    whole = "ababababababac-xxxxxxxxxxxxxxx-a " * 3
    stream = redactor.stream()
    parts = [stream.feed(whole[at : at + size]) for at in range(0, len(whole), size)]
    assert "".join([*parts, stream.end()]) == redactor.text(whole)
    assert redactor.text(whole) == "[redacted]-[redacted]-a " * 3


@pytest.mark.parametrize("size", [1, 5, 30])
def test_every_form_is_caught_in_small_chunks_the_longest_too(size: int) -> None:
    redactor = Redactor([secret := 'a "quoted"/secret+é\\'])
    for encode in (*ENCODINGS.values(), partial(in_json, levels="ua/u/")):
        form = encode(secret)
        whole = f"before {form} after"
        stream = redactor.stream()
        parts = [stream.feed(whole[at : at + size]) for at in range(0, len(whole), size)]
        assert "".join([*parts, stream.end()]) == redactor.text(whole)
        assert form not in redactor.text(whole)


def test_one_secret_after_the_other_is_two() -> None:
    redactor = Redactor(["hunter2-hunter2"])
    assert redactor.text("hunter2-hunter2" * 2) == "[redacted][redacted]"


def test_of_overlapping_secrets_the_whole_stretch_goes() -> None:
    redactor = Redactor(["password1234", "1234-and-more", "word1234"])
    assert redactor.text("<password1234-and-more>") == "<[redacted]>"


def test_short_values_stay_since_they_are_words() -> None:
    assert Redactor(["secret7", "", "yes"]).text("secret7 yes") == "secret7 yes"


def test_values_within_json_go_from_texts_keys_and_numbers() -> None:
    redactor = Redactor(["hunter2-hunter2", "1234567890"])
    assert redactor.value(
        {
            "a": ["x hunter2-hunter2", {"hunter2-hunter2": 1, "[redacted]": 2}],
            "n": 1234567890,
            "m": 12345678,
            "b": True,
            "z": None,
        }
    ) == {
        "a": ["x [redacted]", {"[redacted]": 1, "[redacted] (2)": 2}],
        "n": "[redacted]",
        "m": 12345678,
        "b": True,
        "z": None,
    }


def test_the_lines_of_a_private_key_go_one_by_one_too() -> None:
    line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwgg"
    key = f"-----BEGIN PRIVATE KEY-----\n{line}\n-----END PRIVATE KEY-----\n"
    redactor = Redactor([key])
    assert line not in redactor.text(f"  1: {line}\n")
    assert redactor.text("-----BEGIN PRIVATE KEY-----") == "-----BEGIN PRIVATE KEY-----"


def test_a_text_that_still_grows_does_not_show_the_beginning_of_a_secret() -> None:
    redactor = Redactor(["sk-0123456789abcdef"])
    assert redactor.partial("the key is sk-0123456789") == "the key is [redacted]"
    assert redactor.partial("the key is sk-01") == "the key is sk-01"
    assert redactor.partial("sk-0123456789abcdef is it") == "[redacted] is it"


@pytest.mark.parametrize("encoding", [*ENCODINGS, "json, five deep"])
def test_a_text_that_grows_by_a_key_of_many_lines_never_shows_a_line_of_it(encoding: str) -> None:
    """Its lines are secrets by themselves: that one is known hides none that stands before it."""
    key = '-----BEGIN KEY "a/b"-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END KEY-----'
    form = ENCODINGS.get(encoding, partial(in_json, levels="aaaaa"))(key)
    redactor = Redactor([key, "password\\"])
    assert redactor.partial("my password") == "my [redacted]"
    for end in range(SHORTEST, len(form) + 1):
        assert redactor.partial(f"It is {form[:end]}") == "It is [redacted]"
    assert redactor.partial(f"It is {form}. ") == "It is [redacted]. "


def test_what_has_no_backslash_of_the_secret_is_another_word() -> None:
    redactor = Redactor([r"pa\ss\wor"])
    assert redactor.text(r"passwor pa\ss\wor pa\\ss\\wor") == "passwor [redacted] [redacted]"
    assert redactor.text("one\n" + json.dumps(r"pa\ss\wor")) == 'one\n"[redacted]"'


def test_the_escape_after_a_secret_stays() -> None:
    text = json.dumps({"a": 'x\nsk-0123456789\n"sk-0123456789"'})
    assert json.loads(Redactor(["sk-0123456789"]).text(text)) == {
        "a": 'x\n[redacted]\n"[redacted]"'
    }


def test_redaction_of_megabytes_takes_no_seconds() -> None:
    redactor = Redactor([f"{n:02}-0123456789/abcdefghijklmnopqrstuvwxyz" for n in range(20)])
    started = time.process_time()
    redactor.text("an ordinary sentence of an agent, again and again. " * 80_000)
    assert time.process_time() - started < 10


def test_nothing_known_changes_nothing() -> None:
    redactor = Redactor([])
    stream = redactor.stream()
    assert redactor.text("x") == "x"
    assert redactor.value({"a": [1]}) == {"a": [1]}
    assert stream.feed("abc") + stream.end() == "abc"


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "githubToken",
        "DB_PASSWORD",
        "MYSQL_PWD",
        "PGPASSWORD",
        "AUTHTOKEN",
        "SECRET_KEY_BASE",
        "AWS_SECRET_ACCESS_KEY",
        "API_KEY_2",
        "GOOGLE_CREDENTIALS",
        "passphrase",
        "npm-token",
    ],
)
def test_names_that_say_that_they_hold_a_secret(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "PWD",
        "OLDPWD",
        "MONKEY",
        "KEYBOARD",
        "TOKENIZERS_PARALLELISM",
        "MAX_TOKENS",
        "SSH_AUTH_SOCK",
        "PASSWORD_STORE_DIR",
        "TOKEN_URL",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "KEY_VAULT_NAME",
        "PATTERN",
        "",
    ],
)
def test_names_that_do_not(name: str) -> None:
    assert not is_secret_name(name)


def test_the_secrets_of_an_environment() -> None:
    env = {
        "API_KEY": "abcdefgh",
        "SHORT_TOKEN": "abc",
        "HOME": "/home/ada/somewhere",
        "SIGNING_KEY": "/etc/passwd",
        "SLASH_SECRET": "/ab+cdefghij",
        "SECRET_URL": "https://user:pass@example.com/",
    }
    assert secrets_of_environment(env, exists=lambda path: path == "/etc/passwd") == {
        "abcdefgh",
        "/ab+cdefghij",
        "https://user:pass@example.com/",
    }


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("key sk-proj-abcdefghijklmnop1234 was refused", "key [redacted] was refused"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"),
        ("id AKIAIOSFODNN7EXAMPLE.", "id [redacted]."),
        ("Authorization: Bearer abcdefgh.ijkl", "Authorization: Bearer [redacted]"),
        ('{"api_key": "abcdefghijkl"}', '{"api_key": "[redacted]"}'),
        ("postgres://ada:lovelace-1815@db/x", "postgres://ada:[redacted]@db/x"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nrest",
            "[redacted]\nrest",
        ),
        ("mot de passe, password\xa0: hunter-2222", "mot de passe, password\xa0: [redacted]"),
        ("password\u202f: hunter-2222", "password\u202f: [redacted]"),
        ("an ordinary sentence about a token and a password.", None),
        ("see https://example.com/a:b and risk-taking", None),
        ("http://localhost:11434/v1/chat: connection refused there", None),
    ],
)
def test_secrets_are_guessed_by_their_shape_in_errors_and_logs(
    text: str, clean: str | None
) -> None:
    assert guess(text) == (text if clean is None else clean)


@pytest.mark.parametrize(
    "unit", ["a", "sk-", "://a:", "-----BEGIN PRIVATE KEY-----", "password=", "Bearer ", "eyJ"]
)
def test_guessing_does_not_hang_on_hostile_text(unit: str) -> None:
    started = time.process_time()
    guess(unit * (100_000 // len(unit)))
    assert time.process_time() - started < 10
