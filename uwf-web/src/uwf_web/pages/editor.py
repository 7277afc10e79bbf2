"""The editor of a workflow file of the server's folder."""

from uwf_web.page import Document, Page, Visit
from uwf_web.workflow_files import NEW, read_workflow_file


def read_editor(visit: Visit) -> Document:
    """The file and its problems; of a file that does not exist, the text to begin with."""
    client, name = visit.client, visit.query.get("name", "")
    found = read_workflow_file(client.folder, name)
    if found.sha256 == NEW:
        example = visit.query.get("from") or None
        found = found._replace(text=client.new_workflow(name, example)[name])
    check = client.check_text(found.text, found.file, quote_included=False)
    preview = client.workflow_of_text(found.text, found.file)
    return {"file": found._asdict(), "check": check, "preview": preview, "conflict": None}


def _commands(visit: Visit) -> tuple[str, ...]:
    return (f"uwf workflow check .workflow/{visit.query.get('name', '')}.yaml",)


EDITOR: Page = Page("editor.html", read_editor, _commands)
