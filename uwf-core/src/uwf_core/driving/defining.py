"""The client's methods for workflows: find, show, check, compare, publish."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.driving.reading import ThreadReader
from uwf_core.ids import Ref

if TYPE_CHECKING:
    from uwf_core.views.workflow_diff import WorkflowDiffDocument
    from uwf_core.views.workflows import GraphDocument, ProblemsDocument, WorkflowRow


class WorkflowReader(ThreadReader):
    """Also the workflows of a folder and of the store. A word names one: a name, a file or a
    reference.
    """

    def add_workflow(self, file: str | os.PathLike[str], *, allow_programs: bool = False) -> Ref:
        """Check and publish a workflow file, or that of a name, and register its name. With
        `allow_programs`, this version and all that it calls may run the programs of their roles.
        Raises DefinitionError, whose `problems` are all errors.
        """
        from uwf_core.engine.workflows import file_of, publish_word
        from uwf_core.workflow.registry import register

        word = file_of(self._engine, os.fspath(file))
        ref = publish_word(self._engine, str(Path(self._engine.cwd, word)), self._watch)
        if self._engine.definition(ref).runs_programs:
            from uwf_core.engine.allowance import add_programs

            add_programs(self._engine, ref, self._watch.notice, allow=allow_programs)
        register(self._engine.store, self._engine.definition(ref).name, ref)
        return ref

    def find_workflow(self, word: str) -> Ref:
        """The published workflow of a word. Errors as `uwf workflow show`."""
        from uwf_core.engine.workflows import find_workflow

        return find_workflow(self._engine, word, self._watch)

    def workflows(self) -> "Sequence[WorkflowRow]":
        """The workflows that can be started here by name."""
        from uwf_core.views.workflows import list_workflows

        return list_workflows(self._engine, self._watch.notice)

    def workflow(self, word: str) -> Mapping[str, Any]:
        """The definition of a workflow with every default, as `uwf workflow show` gives it;
        stores nothing. Errors as that command.
        """
        from uwf_core.views.workflows import show_workflow

        return show_workflow(self._engine, word, self._watch.notice)[0]

    def graph(self, word: str) -> "GraphDocument":
        """A workflow as Mermaid text. Errors as `uwf workflow graph`."""
        from uwf_core.views.workflows import draw_workflow

        return draw_workflow(self._engine, word, self._watch.notice)

    def workflow_diff(self, a: str, b: str | None = None) -> "WorkflowDiffDocument":
        """Two workflows, compared by meaning; with one, the registered version of its name is the
        old one. Errors as `uwf workflow diff`.
        """
        from uwf_core.views.workflow_diff import diff_workflows

        return diff_workflows(self._engine, a, b, self._watch)

    def check_workflow(self, file: str | os.PathLike[str]) -> "ProblemsDocument":
        """Every problem of the file of a workflow; stores nothing. Takes a name, too.

        Raises:
            UsageError: the file cannot be read.
        """
        from uwf_core.engine.workflows import check_workflow, file_of
        from uwf_core.views.workflows import check_document

        place = Path(self._engine.cwd, file_of(self._engine, os.fspath(file)))
        checked = check_workflow(self._engine, str(place), self._watch.notice)
        return check_document([checked])

    def check_text(
        self, text: str, file: str | os.PathLike[str], *, quote_included: bool = True
    ) -> "ProblemsDocument":
        """Every problem of the text of a workflow; stores nothing.

        Args:
            text: the text.
            file: its name in problems, and the base of its includes; it need not exist.
            quote_included: False describes problems that could quote another file in general
                words, so that nobody can read a file by including it in a text that they send.
        """
        from uwf_core.engine.workflows import check_workflow_text
        from uwf_core.views.workflows import check_document, unquoted_document

        place = str(Path(self._engine.cwd, file))
        checked = check_workflow_text(self._engine, text, place, self._watch.notice)
        return check_document([checked]) if quote_included else unquoted_document(checked)

    def fix_workflow(self, file: str | os.PathLike[str]) -> Mapping[str, Any]:
        """Fix what is mechanical in the file of a workflow; what was `fixed`, and the problems that
        are left. Errors as `uwf workflow check --fix`.
        """
        from uwf_core.engine.workflows import file_of, fix_workflow
        from uwf_core.views.workflows import check_document

        place = Path(self._engine.cwd, file_of(self._engine, os.fspath(file)))
        fixes, checked = fix_workflow(self._engine, str(place), self._watch.notice)
        return {**check_document([checked]), "fixed": [each.document() for each in fixes]}

    def workflow_of_text(self, text: str, file: str | os.PathLike[str]) -> Mapping[str, Any] | None:
        """The definition in a text, as `workflow` gives it without the bound; stores nothing. None
        if the text has an error or includes files. `file` as in `check_text`.
        """
        from uwf_core.engine.workflows import check_workflow_text
        from uwf_core.workflow.shown import shown_workflow

        place = str(Path(self._engine.cwd, file))
        checked = check_workflow_text(self._engine, text, place, self._watch.notice)
        if checked.workflow is None or checked.includes:
            return None
        return {"workflow": None, **shown_workflow(checked.workflow)}

    def withhold_programs(self, text: str, file: str | os.PathLike[str]) -> bool:
        """Before a program saves this text as `file` for a person: unless it surely runs no
        programs, let the trust in its folder allow none until `uwf config trust` is called again.
        Returns whether they are withheld.
        """
        from uwf_core.engine.allowance import withhold_unless_plain
        from uwf_core.engine.workflows import check_workflow_text

        place = str(Path(self._engine.cwd, file))
        checked = check_workflow_text(self._engine, text, place, self._watch.notice)
        return withhold_unless_plain(self._engine, checked)

    def new_workflow(self, name: str, example: str | None = None) -> Mapping[str, str]:
        """The texts of the files that `uwf workflow new` writes, by name; writes nothing.

        Raises:
            UsageError: the name is not valid for a workflow. UnknownIdError: unknown example.
        """
        from uwf_core.examples.shelf import new_texts

        return new_texts(name, example)
