"""What the editor sends: a text to check, a text to save."""

from typing import TYPE_CHECKING, Any

from uwf_web.page import Shown
from uwf_web.workflow_files import FileChanged, WorkflowFile, read_workflow_file, save_workflow_file

if TYPE_CHECKING:
    from uwf_web.actions import Act


def check(act: "Act") -> Shown:
    """The page with the problems of a text that is not saved."""
    return Shown("editor.html", _document(act, _edited(act)))


def check_live(act: "Act") -> Shown:
    """The problems of a text while it is written, and its graph."""
    edited = _edited(act)
    document = _document(act, edited)
    return Shown("editor_check.html", document)


def save(act: "Act") -> "str | Shown":
    """Save the text; the page with both texts if the file was changed meanwhile."""
    edited, client, withheld = _edited(act), act.client, list[bool]()
    try:
        saved = save_workflow_file(
            client.folder, edited.name, edited.text, edited.sha256,
            before=lambda: withheld.append(client.withhold_programs(edited.text, edited.file)),
        )  # fmt: skip
    except FileChanged as changed:
        document = _document(act, edited._replace(sha256=changed.current.sha256))
        conflict = {"message": changed.message, "text": changed.current.text}
        return Shown("editor.html", {**document, "conflict": conflict}, status=409)
    done = "withheld" if any(withheld) else "yes"
    return f"/editor?name={saved.name}&saved={done}"


def _edited(act: "Act") -> WorkflowFile:
    """The file of the form with the text and the digest that the form has."""
    name, text = act.form.get("name", ""), act.form.get("text", "").replace("\r\n", "\n")
    there = read_workflow_file(act.client.folder, name)
    return there._replace(text=text, sha256=act.form.get("sha256", ""))


def _document(act: "Act", edited: WorkflowFile) -> dict[str, Any]:
    problems = act.client.check_text(edited.text, edited.file, quote_included=False)
    preview = act.client.workflow_of_text(edited.text, edited.file)
    return {"file": edited._asdict(), "check": problems, "preview": preview, "conflict": None}
