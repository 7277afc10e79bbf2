"""The files of a workflow: found, and copied with an edit."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from uwf_core.api import read_regular
from uwf_core.errors import UnknownIdError, UsageError

SKILL: Final = "SKILL.md"
SKILLS: Final = "skills"
_FOLDERS: Final = (".workflow", ".workflows")
_MOST: Final = 5_000_000


def workflow_file(word: str, cwd: Path) -> Path:
    """The file of a workflow: a path, or the name of one in `.workflow/` of the folder or above.

    Raises:
        UnknownIdError: there is no such file.
    """
    path = Path(cwd, word).absolute()
    if path.is_file():
        return path
    for folder in (cwd, *cwd.parents):
        for each in _FOLDERS:
            for ending in (".yaml", ".yml"):
                found = folder / each / f"{word}{ending}"
                if "/" not in word and found.is_file():
                    return found
    raise UnknownIdError(
        f"unknown workflow file {word!r}",
        where=str(cwd),
        hint="an edit changes a file: name its path, or a workflow of the folder `.workflow`",
    )


def skill_files(file: Path) -> dict[str, str]:
    """The skills beside a workflow file: name -> text."""
    folder = file.parent / SKILLS
    found = {}
    for each in sorted(folder.glob(f"*/{SKILL}")) if folder.is_dir() else ():
        if each.is_file() and not each.is_symlink():
            data = read_regular(str(each), within=str(folder))
            found[each.parent.name] = data.decode("utf-8")
    return found


def copy_with(file: Path, target: Path, texts: Mapping[str, str]) -> Path:
    """Copy the workflows and skills of a folder, with other texts at these paths; the file's copy.

    Raises:
        UsageError: the folder is too large, or a path is outside it.
    """
    total = 0
    for source in _sources(file.parent):
        relative = source.relative_to(file.parent)
        total += source.stat().st_size
        if total > _MOST:
            raise UsageError("the folder of the workflow is too large", where=str(file.parent))
        (target / relative).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target / relative)
    for name, text in texts.items():
        place = target / name
        if not place.resolve().is_relative_to(target.resolve()):
            raise UsageError(f"the path {name!r} is outside the folder of the workflow")
        place.write_text(text, encoding="utf-8", newline="")
    return target / file.name


def _sources(folder: Path) -> Iterator[Path]:
    for pattern in ("*.yaml", "*.yml", "*.json", "*.md", f"{SKILLS}/*/{SKILL}"):
        for each in sorted(folder.glob(pattern)):
            if each.is_file() and not each.is_symlink():
                yield each


def read_text(file: Path, encoding: str = "utf-8-sig") -> str:
    """The text of a file.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return read_regular(str(file)).decode(encoding)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the file: {getattr(error, 'strerror', None) or error}",
            where=str(file),
            hint="check the path and its permissions; the file is text in UTF-8",
        ) from error
