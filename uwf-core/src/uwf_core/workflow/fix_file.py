"""Fix a workflow file in place: the file is replaced whole, or not at all."""

import os
import stat
import time
from codecs import BOM_UTF8
from pathlib import Path
from typing import TYPE_CHECKING

from uwf_core.errors import DefinitionError, UsageError
from uwf_core.process.path_walk import read_regular
from uwf_core.workflow.check import Checked, check_loaded, rejected
from uwf_core.workflow.fix import Fixed, fixed
from uwf_core.workflow.load import load_text
from uwf_core.workflow.problem import Problem
from uwf_core.workflow.source_file import open_source, reason
from uwf_core.workflow.yaml_nodes import YamlNode
from uwf_core.workflow.yaml_source import MAX_BYTES, decode

if TYPE_CHECKING:
    from uwf_core.workflow.callees import Callees

SECONDS = 1.0
"""Of computing, after which no further edit is tried: each takes a check of the file."""


def fix_file(path: str, callees: "Callees | None" = None) -> tuple[tuple[Problem, ...], Checked]:
    """Fix what is mechanical in a file; the problems that are gone, and the check of what is left.
    Arguments as of `check_file`.

    Raises:
        UsageError: it is missing, cannot be read or written, or is a link; it stays as it is.
    """
    with open_source(path) as source:
        data = source.data
    mode = _mode(path)
    try:
        written = decode(data, file=path)
    except DefinitionError as error:
        return (), rejected(path, error)
    checks: dict[str, Checked] = {}

    def check(text: str) -> tuple[tuple[Problem, ...], YamlNode | None]:
        loaded = load_text(text, path)
        checks[text] = check_loaded(loaded, path, callees)
        return checks[text].problems, loaded.node

    end = time.process_time() + SECONDS
    found: Fixed = fixed(written, path, check, lambda: time.process_time() > end)
    if found.problems:
        mark = BOM_UTF8 if data.startswith(BOM_UTF8) else b""
        _replace(path, data, mark + found.text.encode(), mode)
    return found.problems, checks[found.text]


def _mode(path: str) -> int:
    """The permissions of a file; links are rejected."""
    info = os.lstat(path)
    if not stat.S_ISREG(info.st_mode) or info.st_nlink > 1:
        message = "--fix changes no file that is a link or has several names"
        raise UsageError(message, where=path, hint="name the file itself, or copy it")
    return stat.S_IMODE(info.st_mode)


def _replace(path: str, before: bytes, after: bytes, mode: int) -> None:
    draft = f"{path}.{os.urandom(6).hex()}.new"
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with open(descriptor, "wb") as stream:
                os.fchmod(descriptor, mode)
                stream.write(after)
                stream.flush()
                os.fsync(descriptor)
            if read_regular(path, MAX_BYTES, cut=True) != before:
                raise UsageError("the file changed meanwhile", where=path, hint="run it again")
            Path(draft).replace(path)
        except BaseException:
            Path(draft).unlink()
            raise
    except OSError as error:
        raise UsageError(
            f"cannot write the file: {reason(error)}",
            where=path,
            hint="check the permissions of the folder",
        ) from error
