r"""`.env`: lines `NAME=value`, as most tools read them; no references to other variables.

A value may be in single quotes (taken literally) or double quotes (with `\n`, `\t`, `\"`,
`\\` and `\$`); without quotes it ends before ` #`. A line may begin with `export `. It ends with a
line feed: each other character, U+2028 too, is part of a value.
"""

from uwf_core.errors import ConfigError

_BLANKS = " \t\r"
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "$": "$"}


def parse_dotenv(text: str, file: str) -> dict[str, str]:
    """The variables of a `.env` file; the last of a name wins.

    Raises:
        ConfigError: a line is invalid; the message never quotes a value.
    """
    variables = {}
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = line.strip(_BLANKS)
        if not line or line.startswith("#"):
            continue
        name, value = _assignment(line)
        if value is None:
            raise ConfigError(
                "not a NAME=value line",
                where=f"{file}:{number}",
                hint="close its quotes, or start a comment with #",
            )
        variables[name] = value
    return variables


def decode_dotenv(data: bytes, file: str) -> str:
    """The bytes of a `.env` file as text.

    Raises:
        ConfigError: they are not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError("not UTF-8", where=file, hint="save it as UTF-8") from error


def with_variable(text: str, name: str, value: str) -> str:
    """The text of a `.env` file with one variable set; all other lines stay unchanged."""
    new = f"{name}={_quoted(value)}"
    lines = text.removesuffix("\n").split("\n") if text else []
    places = [at for at, line in enumerate(lines) if _assignment(line.strip(_BLANKS))[0] == name]
    if places:
        lines[places[-1]] = new
    else:
        lines.append(new)
    return "\n".join(lines) + "\n"


def _assignment(line: str) -> tuple[str, str | None]:
    name, equals, value = line.removeprefix("export ").partition("=")
    name = name.strip(_BLANKS)
    if not equals or not name.isidentifier() or not name.isascii():
        return name, None
    return name, _value(value.strip(_BLANKS))


def _value(text: str) -> str | None:
    quote = text[:1]
    if quote not in ("'", '"') or not quote:
        return text.partition(" #")[0].rstrip(_BLANKS) if not text.startswith("#") else ""
    taken, at = [], 1
    while at < len(text) and text[at] != quote:
        if quote == '"' and text[at] == "\\" and text[at + 1 : at + 2] in _ESCAPES:
            at += 1
            taken.append(_ESCAPES[text[at]])
        else:
            taken.append(text[at])
        at += 1
    rest = text[at + 1 :].strip(_BLANKS)
    closed = at < len(text) and (not rest or rest.startswith("#"))
    return "".join(taken) if closed else None


def _quoted(value: str) -> str:
    if value and all(character.isalnum() or character in "-_./:+=@" for character in value):
        return value
    escapes = {escape: f"\\{letter}" for letter, escape in _ESCAPES.items()}
    return '"' + "".join(escapes.get(character, character) for character in value) + '"'
