"""Every fault of a settings file is reported at once, each with its place and its cure."""

import pytest

from uwf_core.errors import ConfigError

from .conftest import World


def fault(world: World, text: str) -> ConfigError:
    world.config(text)
    with pytest.raises(ConfigError) as caught:
        world.settings()
    return caught.value


def test_an_unknown_key_is_named_with_its_line_and_what_was_meant(world: World) -> None:
    error = fault(world, "store: sqlite:a.db\ndefaultagent: mock\n")
    assert error.where == f"{world.file}:2:1"
    assert "'defaultagent'" in error.message
    assert error.hint == "did you mean 'defaultAgent'?"


def test_an_unknown_key_far_from_all_is_answered_with_all(world: World) -> None:
    error = fault(world, "limits: {zzz: 1}\n")
    assert "unknown key 'zzz' in limits" in error.message
    assert "runSeconds" in (error.hint or "")


def test_all_faults_are_reported_at_once(world: World) -> None:
    error = fault(
        world,
        "stroe: x\nlimits: {runSeconds: fast}\nagents:\n  a: {use: mock, command: x}\n"
        "extractors: frontmatter\nproviders: {p: {baseUrl: ftp://x}}\n",
    )
    assert len(error.problems) == 5
    assert [problem["line"] for problem in error.problems] == [1, 2, 4, 5, 6]
    for words in ("stroe", "limits.runSeconds", "agents.a", "extractors", "providers.p.baseUrl"):
        assert words in error.message
    assert error.document()["error"]["problems"] == list(error.problems)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a]", "the configuration must be a mapping"),
        ("defaultAgent: 5", "defaultAgent must be text"),
        ("defaultAgent: true", "defaultAgent must be text"),
        ("defaultAgent: ' '", "defaultAgent is blank"),
        ("defaultAgent: [a]", "defaultAgent must be text"),
        ("store: store.db", "store must be a store's URL"),
        ("limits: 5", "limits must be a mapping"),
        ("limits: {runSeconds: 0}", "limits.runSeconds must be a positive number"),
        ("limits: {runSeconds: true}", "limits.runSeconds must be a positive number"),
        ("limits: {runSeconds: .inf}", "limits.runSeconds must be a positive number"),
        ("limits: {runSeconds: .nan}", "limits.runSeconds must be a positive number"),
        ("limits: {replyBytes: 1.5}", "limits.replyBytes must be a positive whole number"),
        ("workflowPaths: flows", "workflowPaths must be a list"),
        ("workflowPaths: [[a]]", "workflowPaths.0 must be text"),
        ("agents: {a: mock}", "agents.a must be a mapping"),
        ("agents: {a: {}}", "`use` (an installed agent), `command`"),
        ("agents: {a: {use: m, args: [x]}}", "args needs `command`"),
        ("agents: {a: {use: m, options: [x]}}", "agents.a.options must be a mapping"),
        (
            "agents: {a: {command: c, capabilities: [fly]}}",
            "agents.a.capabilities.0 must be one of",
        ),
        ("agents: {a: {command: c, argz: [x]}}", "unknown key 'argz' in agents.a"),
        ("agents: {'': {use: m}}", "an agent's alias needs a name"),
        ("providers: {p: {apiKey: a, apiKeyEnv: B}}", "apiKey and apiKeyEnv cannot be combined"),
        ("providers: {p: {apiKeyEnv: not a name}}", "must be the name of an environment variable"),
        ("models: {m: {price: {input: -1}}}", "models.m.price.input must be a number of USD"),
        ("models: {m: {price: {inputs: 1}}}", "unknown key 'inputs' in models.m.price"),
        ("models: {m: {extra: [x]}}", "models.m.extra must be a mapping"),
        (
            "models: {m: {extra: {messages: []}}}",
            "models.m: extra cannot contain 'messages', which uwf sets",
        ),
        ("models: {m: {extra: {top_p: .nan}}}", "models.m: extra cannot be sent as JSON"),
        ("a: 1\na: 2", "duplicate key"),
        ("store: !include x", "tag"),
        ("store: [", "invalid YAML"),
    ],
)
def test_wrong_values_are_named_with_their_place(world: World, text: str, said: str) -> None:
    error = fault(world, text)
    assert said in error.message
    assert str(world.file) in (error.where or "")


def test_a_hostile_file_is_rejected_with_a_bounded_number_of_errors(world: World) -> None:
    error = fault(world, "".join(f"key{number}: v\n" for number in range(40_000)))
    assert 200 <= len(error.problems) <= 202


def test_a_number_where_text_belongs_is_answered_with_quotes(world: World) -> None:
    assert fault(world, "models: {m: {name: 4.10}}").hint == 'put it in quotes: "4.10"'


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("NAME=value", "value"),
        ("  export NAME = value  ", "value"),
        ("NAME=value # comment", "value"),
        ("NAME=value#no", "value#no"),
        ("NAME=", ""),
        ("NAME='a $b \\n c' # comment", "a $b \\n c"),
        ('NAME="a \\"b\\" \\\\ \\n"', 'a "b" \\ \n'),
        ("NAME=a=b", "a=b"),
    ],
)
def test_the_usual_lines_of_a_dotenv_file_are_read(world: World, line: str, value: str) -> None:
    world.dotenv(f"# comment\n\n{line}\n")
    assert world.settings().environment["NAME"] == value


@pytest.mark.parametrize("line", ["NAME", "1A=x", "A B=x", "NAME='sk-open", 'NAME="sk" more'])
def test_another_line_in_a_dotenv_file_is_named_and_never_quoted(world: World, line: str) -> None:
    world.dotenv(f"GOOD=1\n{line}\n")
    with pytest.raises(ConfigError) as caught:
        world.settings()
    assert caught.value.where == f"{world.home}/.env:2"
    assert "sk" not in str(caught.value.document())
