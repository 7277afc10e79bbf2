"""The static table says what the commands themselves say, without importing them."""

import re
from inspect import signature

import click
import pytest
from cli_kit import check_golden

from uwf_core.cli.command import Command
from uwf_core.cli.complete import options_of
from uwf_core.cli.main import Root
from uwf_core.cli.plugin_commands import plugin_commands
from uwf_core.operations.all import TABLE
from uwf_core.operations.plugin_rows import every_command
from uwf_core.operations.rows import CONTEXT, RETIRED, Noun, function_of, own_commands
from uwf_testing.operations import OWN, arguments_of, files_of

COMMANDS = own_commands().rows


def rows(entries=COMMANDS, path=()):
    for name, entry in entries.items():
        if isinstance(entry, Noun):
            yield from rows(entry.rows, (*path, name))
        else:
            yield (*path, name), entry


ALL = dict(rows(every_command().rows))
TABLES = (OWN, "uwf_explain.operations", "uwf_testing.commands", "uwf_eval.operations",
          "uwf_improve.operations", "uwf_worker.operations")  # fmt: skip


def load(path) -> click.Command:
    command: click.Command = Root()
    for name in path:
        command = command.get_command(click.Context(command), name)  # type: ignore[attr-defined]
    return command


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_completion_knows_the_options_of_each_command(path):
    options = [
        param for param in load(path).params if isinstance(param, click.Option) and not param.hidden
    ]
    real = {(option.opts[-1], option.is_flag) for option in options}
    flags = {"--debug", "--help"}
    known = {
        (name, name in flags if row is None else row.get("flag", False))
        for name, row in options_of(ALL[path]).items()
    }
    assert known == real


@pytest.mark.parametrize("module", TABLES)
def test_the_generated_files_are_those_of_the_table(module):
    """`python -m uwf_testing.operations MODULE` renews them."""
    for file, text in files_of(module).items():
        assert file.read_text("utf-8") == text, file.name


OPERATIONS = [each for each in TABLE.operations if each.arguments and each.target]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.path)
def test_the_target_of_each_operation_gets_what_it_takes(operation):
    function = function_of(f"{TABLE.package}.{operation.target}")
    known = {each.name for each in arguments_of(operation)} | CONTEXT | {"word"}
    for name, parameter in signature(function).parameters.items():
        kind = function.__annotations__[name]
        kind = function.__globals__.get(kind, kind) if isinstance(kind, str) else kind
        is_record = hasattr(kind, "_fields")
        assert name in known or is_record or parameter.default is not parameter.empty, name


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_shows_an_example_that_is_a_call_of_it(path):
    command = load(path)
    assert isinstance(command, Command)
    assert command.name == path[-1]
    assert command.examples
    for example in command.examples:
        assert " ".join(("uwf", *path)) in example or path[-1] == "fork"
        outside_quotes = re.sub(r"'[^']*'", "", example)
        assert "$status" not in outside_quotes  # a shell would replace it


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_says_what_it_does_and_what_each_option_means(path):
    command = load(path)
    assert command.help
    silent = [
        param.name
        for param in command.params
        if isinstance(param, click.Option) and not param.hidden and not param.help
    ]
    assert silent == []


@pytest.mark.parametrize("path", ["run", "thread start", "thread resume", "thread poke",
                                  "thread compact", "step ask", "schedule add"])  # fmt: skip
def test_an_option_that_reads_stdin_and_files_says_so(path):
    texts = [each for each in load(path.split()).params if each.metavar == "TEXT"]
    assert texts
    assert all("`-` reads stdin, `@file` a file." in each.help for each in texts)


def test_no_command_is_called_by_a_name_of_the_past():
    assert set(RETIRED) & set(ALL) == set()


@pytest.mark.parametrize("name", ["", "thread", "thread exec", "thread list", "step", "cas"])
def test_help_is_as_it_was_agreed(uwf, name):
    """Without the commands of other distributions, which may be installed."""
    answer = uwf(*name.split(), "--help")
    assert answer.code == 0
    others = "|".join(plugin_commands(COMMANDS)) or "$^"
    own = re.sub(rf"(?m)^  (?:{others}) .*\n(?: {{8,}}.*\n)*", "", answer.out.rstrip("\n"))
    check_golden(f"help-{name.replace(' ', '-') or 'uwf'}.txt", own)


@pytest.mark.parametrize("words", [(), ("thread",), ("cas", "schema")], ids=" ".join)
def test_a_group_without_a_command_shows_its_help(uwf, words):
    answer = uwf(*words)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("Usage: uwf")
