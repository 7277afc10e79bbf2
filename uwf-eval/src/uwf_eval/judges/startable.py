"""Why the command of a judge cannot start, found before an agent runs: afterwards nobody can tell
whether the agent removed the program. Pure but for looking at files.
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from uwf_core.api import ProcessLimits, Program, read_regular, run_program
from uwf_eval.judges.context import search_path
from uwf_eval.task.model import Task

_SECONDS: Final = 10.0
_ENDS: Final = frozenset((";", "|", "||", "&", ";;"))
_BEFORE_A_COMMAND: Final = frozenset(
    ("(", "{", "then", "else", "do", "exec", "command", "env", "nice", "nohup", "time", "timeout")
)
"""Words after which a command follows, perhaps behind options and numbers."""
_NO_COMMAND: Final = frozenset(
    ("!", "if", "elif", "while", "until", "fi", "done", "}", "esac", "for", "case", "function", ")")
)
_NOT_PLAIN: Final = re.compile(r"[$`*?\[~]")
_SHELL: Final = re.compile(r"(.*/)?(ba|da|z|k)?sh -[eux]*c")
"""A shell and an option, after which a command follows as one word."""
_SKIPPED: Final = re.compile(r"-.*|\d+(\.\d+)?[smhd]?|[A-Za-z_]\w*=.*")


def unable(task: Task, folder: Path | None, env: Mapping[str, str]) -> Mapping[str, str]:
    """Why judges of a task cannot start their commands, by the name of the judge.

    Args:
        task: with its judges. folder: with which a trial begins. env: of its judges.
    """
    path = search_path(env, programs=Path(sys.executable).parent)
    found = {
        each.name: cannot_start(str(each.options.get("run", "")), folder, path)
        for each in task.judges
        if each.builtin == "command"
    }
    return {name: why for name, why in found.items() if why is not None}


def cannot_start(run: str, folder: Path | None, path: str) -> str | None:
    """Why the exit code of a command will be 126 or 127 whatever an agent does; None if it may
    start.

    Args:
        run: for `sh -c`. folder: with which a trial begins; None: empty. path: the PATH.
    """
    for word in _programs(run):
        why = _why_not(word, folder, path)
        if why is not None:
            return why
    return None


def _programs(run: str) -> Iterator[str]:
    """The programs of the commands that decide over the exit code, as far as they are plain words:
    those of the last list of commands that `&&` joins.
    """
    lexer = shlex.shlex(run.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.wordchars += "@%+,:"
    try:
        words = list(lexer)
    except ValueError:  # an open quote
        return
    if "()" in words:  # a function, which may have any name
        return
    is_expected, is_file, before = True, False, ("", "")
    for word in words if "set -e" in run else _last(words):
        shell, before = _SHELL.fullmatch(" ".join(before)), (before[1], word)
        if is_file:
            is_file = False
        elif shell:
            yield from _programs(word)
        elif word[0] in "<>":
            is_file = True
        elif word in _ENDS or word == "&&" or word in _BEFORE_A_COMMAND:
            is_expected = True
        elif is_expected and not _SKIPPED.fullmatch(word):
            is_expected = False
            if word not in _NO_COMMAND and not _NOT_PLAIN.search(word):
                yield word


def _last(words: Sequence[str]) -> Sequence[str]:
    """The words after the last operator that forgets an exit code."""
    ends = [at for at, word in enumerate(words) if word in _ENDS and words[at + 1 :]]
    return words[ends[-1] + 1 :] if ends else words


def _why_not(word: str, folder: Path | None, path: str) -> str | None:
    if "/" not in word:
        return None if _is_known(word, path) else f"there is no program {word!r}"
    file = Path(word) if folder is None else folder / word
    if not word.startswith("/") and (folder is None or not file.exists()):
        return None  # the agent may have to write it
    if not file.exists():
        return f"there is no program {word!r}"
    if not os.access(file, os.X_OK) or file.is_dir():
        return f"{word!r} is not executable"
    head = read_regular(str(file), 256, cut=True)
    first = head.partition(b"\n")[0].decode("utf-8", "replace")
    interpreter = first.removeprefix("#!").split()[:1] if first.startswith("#!") else []
    if interpreter and not os.access(interpreter[0], os.X_OK):
        return f"{word!r} names the interpreter {interpreter[0]!r}, which does not exist"
    return None


def _is_known(word: str, path: str) -> bool:
    """Whether the shell finds a program, or has such a command itself."""
    if shutil.which(word, path=path):
        return True
    asked = ("/bin/sh", "-c", 'command -v -- "$1"', "sh", word)
    program = Program(argv=asked, cwd="/", env={"PATH": path})
    return run_program(program, ProcessLimits(total_seconds=_SECONDS)).exit_code == 0
