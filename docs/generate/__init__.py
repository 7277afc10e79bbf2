"""Reference pages, written from the code: one module per page, each with `markdown() -> str`."""

from importlib import import_module

PAGES = {
    "cli": "every command with its help",
    "api": "every name of `uwf_core.api` with its fields",
    "hooks": "every hook with its arguments and an example",
    "contracts": "every clause of the conformance kits, and every ability of a scripted peer",
    "formats": "every key of the files and documents that uwf reads",
    "documents": "the JSON Schema of what each command prints",
    "judges": "the built-in judges of uwf-eval with their options",
    "builtin": "the builtin agent's options and tools, and the services that setup knows",
    "errors": "exit codes, errors and kinds of failure",
    "problems": "the codes of `uwf workflow check`",
    "size": "the lines of code that each capability costs",
}


def page(name: str) -> str:
    """The Markdown of the page `name`, one of `PAGES`."""
    text = import_module(f"{__name__}.{name}").markdown()
    assert isinstance(text, str)
    return text
