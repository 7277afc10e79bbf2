"""The public API for commands that look and behave like those of `uwf`.

    COMMANDS = Noun("What the group is for", {"hello": Row("hello:hello", "Say hello")}, "my.cli")

    @command("hello", "my-tool hello")
    def hello(session: Session) -> None:
        \"\"\"Say hello.\"\"\"
        session.emit({"said": "hello"}, lambda document, screen: document["said"])

    def main() -> int:
        return end_process(process(sys.argv[1:], lambda: Group("my-tool", (), COMMANDS)))

A command gets the `Session` first: the format asked for, the streams, the environment. It prints
one document with `session.emit`, lines for people with `session.note`, and gives its exit code
(None: 0). Errors of `uwf_core.errors` are shown as `uwf` shows them. A group that is announced by
the entry point `uwf.commands` is the same `Group`, made once. A `TableGroup` has the commands
of a table of operations instead (`uwf_core.operations.declare`). `main` runs `uwf`, or a group, in
this process and returns its exit code, for tests.
"""

from uwf_core.cli.command import Command, command, write_examples, write_lines
from uwf_core.cli.error_report import error_document
from uwf_core.cli.main import EXIT_CODES, TableGroup, main, process
from uwf_core.cli.operation import Group, Moment
from uwf_core.cli.params import file_or_text
from uwf_core.cli.prompt import document_text
from uwf_core.cli.render.amounts import ago, count, duration, moment, usage
from uwf_core.cli.render.colours import Screen, cells, fit, is_terminal, screen_of
from uwf_core.cli.render.findings import problem_lines
from uwf_core.cli.render.lines import changed_lines
from uwf_core.cli.render.table import Column, fields, table
from uwf_core.cli.session import Session, working_folder
from uwf_core.cli.shutdown import cancel_on_signals, end_process
from uwf_core.cli.thread_list import thread_filter
from uwf_core.escape import clean, clean_document
from uwf_core.maintenance.replaced_file import replaced_file
from uwf_core.operations.rows import Noun, Row

__all__ = [
    "EXIT_CODES", "Column", "Command", "Group", "Moment", "Noun", "Row", "Screen", "Session",
    "TableGroup", "ago", "cancel_on_signals", "cells", "changed_lines", "clean", "clean_document",
    "command", "count", "document_text", "duration", "end_process", "error_document", "fields",
    "file_or_text", "fit", "is_terminal", "main", "moment", "problem_lines", "process",
    "replaced_file", "screen_of", "table", "thread_filter", "usage", "working_folder",
    "write_examples", "write_lines",
]  # fmt: skip
