"""A page: documents of commands, and the template that shows them and gets nothing else of uwf."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from uwf_core.client import Client
    from uwf_web.assets import Assets

Document = Mapping[str, Any]


def named(target: str) -> Any:
    """What a text names, `module:attribute`, imported now."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


class Visit(NamedTuple):
    """What a page is read from: a client of this thread of the server, the parts of the path, and
    the query of the URL (the last value of each name).
    """

    client: "Client"
    path: Mapping[str, str]
    query: Mapping[str, str]


class Page(NamedTuple):
    """A page of the table in `routes`.

    Attributes:
        template: the file below `templates`. Its variables are `document` and `site` (`Site`).
        read: the document, which the same URL with `.json` returns as it is.
        commands: those that print it, with the parts of the path in braces: of one command the
            document is that command's, of several it has one key for each. A function where the
            query decides.
        etag: the reference that decides everything on the page (a step's); None: it may change.
    """

    template: str
    read: Callable[[Visit], Document]
    commands: tuple[str, ...] | Callable[[Visit], tuple[str, ...]]
    etag: Callable[[Visit], str | None] | None = None

    def commands_of(self, visit: Visit) -> tuple[str, ...]:
        """The commands that print the document of a visit."""
        if callable(self.commands):
            return self.commands(visit)
        return tuple(each.format(**visit.path) for each in self.commands)


class Shown(NamedTuple):
    """An answer that is itself a page, since nothing is stored that another page could show."""

    template: str
    document: Document
    status: int = 200


class Site(NamedTuple):
    """What a template knows beside its document: this server and this request.

    Attributes:
        base: the base path, which each link begins with: "" or "/uwf".
        here: the path of the page, with its query and the base.
        query: the query of the URL.
        csrf: the value that each form carries, in the field `csrf`.
        read_only: no form is shown.
        version: of uwf-web.
        assets: have the URL of each file of `static`, by its name.
        commands: the commands that print the document.
        warning: a sentence about the address of the page, or None.
        problem: why a form of this page was refused, or None. form: what was sent with it, by name.
        action: the last word of its path.
    """

    base: str
    here: str
    query: Mapping[str, str]
    csrf: str
    read_only: bool
    version: str
    assets: "Assets"
    commands: tuple[str, ...]
    warning: str | None
    problem: Mapping[str, Any] | None = None
    form: Mapping[str, Sequence[str]] = {}
    action: str = ""

    def sent(self, action: str, name: str) -> Sequence[str]:
        """The texts of a field of the form that was refused, if it is this one."""
        return self.form.get(name, ()) if action == self.action else ()
