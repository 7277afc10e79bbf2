"""Where the new texts of an edit come from: an edited file, texts by place, or an agent."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from uwf_core.client import Cancel, Client
from uwf_core.errors import UsageError
from uwf_improve.edit.draft import Draft
from uwf_improve.edit.files import SKILL, SKILLS, read_text, skill_files
from uwf_improve.edit.patch import patched
from uwf_improve.edit.records import Citation
from uwf_improve.edit.yaml_text import with_texts
from uwf_improve.reflect.ask import ask
from uwf_improve.reflect.prompt import prompt_of, shown_steps
from uwf_improve.reflect.reflection import Reflection

_TASK: Final = (
    "Draft one edit of the workflow below that answers its findings. `workflow` has the texts that "
    "you may change, by their places; nothing else can be changed."
)


def texts_of_file(file: Path, edited: Path) -> dict[str, str]:
    """The changed files of an edited copy: a file, or a folder with the file and `skills/`.

    Raises:
        UsageError: it cannot be read, or is the same.
    """
    folder = edited if edited.is_dir() else None
    source = edited / file.name if folder else edited
    found = {file.name: read_text(source)}
    if folder:
        for name, text in skill_files(source).items():
            found[f"{SKILLS}/{name}/{SKILL}"] = text
    changed = {
        path: text
        for path, text in found.items()
        if not (file.parent / path).is_file() or read_text(file.parent / path) != text
    }
    if not changed:
        raise UsageError("the edited file is the same as the workflow", where=str(edited))
    return changed


def texts_of_patch(file: Path, patch: Path) -> dict[str, str]:
    """The changed files of a patch of the workflow file and the skills beside it.

    Raises:
        UsageError: it cannot be read, changes other files, or does not fit.
    """
    skills = {f"{SKILLS}/{name}/{SKILL}": text for name, text in skill_files(file).items()}
    return patched(read_text(patch), {file.name: read_text(file), **skills})


def texts_of_places(file: Path, texts: Mapping[str, str]) -> dict[str, str]:
    """The changed files of new texts by place; `skills.NAME` is a skill beside the workflow.

    Raises:
        UsageError: unknown place.
    """
    skills = {
        f"{SKILLS}/{place.removeprefix('skills.')}/{SKILL}": text
        for place, text in texts.items()
        if place.startswith("skills.")
    }
    own = {place: text for place, text in texts.items() if not place.startswith("skills.")}
    before = read_text(file)
    after = with_texts(before, own)
    return {**({file.name: after} if after != before else {}), **skills}


def draft_of_agent(
    client: Client, file: Path, found: Reflection, agent: str | None, cancel: Cancel
) -> Draft:
    """Let an agent draft an edit that answers findings.

    Raises:
        UsageError: it drafts none, or names an unknown place. UwfError: it did not answer.
    """
    prompt = prompt_of(client, str(file), found, _TASK)
    said = ask(client, "propose", prompt, agent=agent, cancel=cancel)
    output: Mapping[str, Any] = said["output"]
    if output["$status"] != "drafted":
        raise UsageError(f"the agent drafts no edit: {output['why']}", where=said["thread"])
    texts = {str(each["place"]): str(each["text"]) for each in output["edits"]}
    return Draft(
        file=file,
        texts=texts_of_places(file, texts),
        findings=citations(found, output["findings"], strict=False),
        why=str(output["why"]),
        author=str(agent),
        thread=said["thread"],
        seen=shown_steps(found),
    )


def citations(found: Reflection, numbers: Sequence[int], *, strict: bool = True) -> list[Citation]:
    """The findings with these numbers.

    Raises:
        UsageError: `strict`, and one does not exist.
    """
    known = {each.number: each for each in found.findings}
    unknown = [each for each in numbers if each not in known]
    if unknown and strict:
        raise UsageError(
            f"unknown finding {unknown[0]}",
            hint=f"`uwf improve reflect {found.workflow}` lists {len(known)} findings",
        )
    return [
        Citation(
            number=each.number, kind=each.kind, place=each.place, text=each.text, steps=each.steps
        )
        for each in (known[number] for number in dict.fromkeys(numbers) if number in known)
    ]
