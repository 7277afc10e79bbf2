"""Names: of workflows and their files, and those that a file gives to roles, statuses, branches and
fields.
"""

import os  # pathlib is slow to import
import re
from collections.abc import Iterable, Iterator
from typing import Final

from uwf_core.fields.mismatch import short
from uwf_core.yaml.problem import Place, Problem, error_at, warning_at

MAX_BYTES: Final = 100
"""The longest name, in UTF-8."""
_NAME = r"\w[\w.-]*\Z"
_HINT: Final = "use letters, digits, `_`, `.` and `-`, with a letter, a digit or `_` first"
_LATIN = str.maketrans("01аеорсухіјѕһԁѵвкмнтοανικρτυχβζ", "olaeopcyxijshdvbkmhtoavikptuxbz")
"""Digits, and letters of other scripts in lower or upper case, that look like Latin letters."""


def name_fault(name: str) -> tuple[str, str] | None:
    """Why `name` is not a name, in words that follow it, and the hint; None if it is one."""
    if not name.isascii():
        from unicodedata import is_normalized  # few names need it

        if not is_normalized("NFC", name):
            return "is not in the normal form NFC of Unicode", "type its accented letters anew"
    if not re.match(_NAME, name):
        return "is not a valid name", _HINT
    if len(name.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return f"is longer than {MAX_BYTES} bytes", "shorten it"
    return None


def check_name(name: str, noun: str, place: Place) -> Iterator[Problem]:
    """The error of a name that is not valid; `noun` is what it names: `role`."""
    fault = name_fault(name)
    if fault is not None:
        yield error_at(place, "bad-name", f"the {noun} {short(name)!r} {fault[0]}", fault[1])


def check_look_alike(names: Iterable[tuple[str, Place]], noun: str) -> Iterator[Problem]:
    """Each name that people can take for one above it: the same letters in another case or
    script.
    """
    seen: dict[str, str] = {}
    for name, place in names:
        other = seen.setdefault(_skeleton(name), name)
        if other != name:
            many = "statuses" if noun == "status" else f"{noun}s"
            message = f"the {many} {short(other)!r} and {short(name)!r} look alike"
            yield warning_at(
                place, "names-look-alike", message, f"rename one{_scripts(other, name)}"
            )


def _skeleton(name: str) -> str:
    if name.isascii():
        return name.casefold().translate(_LATIN)
    from unicodedata import normalize

    return normalize("NFKC", name).casefold().translate(_LATIN)


def _scripts(*names: str) -> str:
    """The letters of another script, by which the names differ."""
    from unicodedata import name as name_of

    found = dict.fromkeys(each for name in names for each in name if ord(each) > 127)
    listed = [f"{each} is {name_of(each, 'unnamed')}" for each in found]
    return f": {', '.join(listed[:3])}" if listed else ""


# -- workflows and their files ---------------------------------------------------------------------


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
"""The pattern of names of workflows."""
NAME_HINT = "use letters, digits, `.`, `_` and `-`, with a letter or digit first"

SUFFIXES = (".yaml", ".yml")
FOLDERS = (".workflow", ".workflows")
"""The folders of a project's workflows; if one folder has both, the former wins."""
INDEX_FILES = tuple("index" + suffix for suffix in SUFFIXES)
"""The file of a workflow that is named by its folder."""


def expected_name(file: str) -> str:
    """The required name of the workflow in `file`: the stem, or the folder for `index.yaml`."""
    folder, name = os.path.split(os.path.abspath(file))  # noqa: PTH100
    stem = os.path.splitext(name)[0]  # noqa: PTH122
    return os.path.basename(folder) if stem == "index" else stem  # noqa: PTH119
