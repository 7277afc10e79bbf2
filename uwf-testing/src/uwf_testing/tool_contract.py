"""The promises of every tool, as tests: subclass `ToolContract` and define its fixtures.

```python
import pytest
from uwf_testing.tool_contract import ToolContract

class TestCount(ToolContract):
    @pytest.fixture
    def tool(self):
        return "count_words"                      # the name of the entry point and of the tool

    @pytest.fixture
    def arguments(self):                          # of a call that succeeds in `workspace`
        return {"path": "README.md"}
```

`workspace` is the folder of the call; by default it has a file README.md. Two more fixtures are
like `arguments`: `failing`, for a call that fails; `slow`, for a call that takes long. Each is None
by default, and the clauses that need it are skipped.
"""

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from uwf_core.api.tool import ToolContext, ToolSpec
from uwf_core.cas.schemas import CompiledSchema, schema_problems
from uwf_core.plugins.plugins import Plugins
from uwf_core.plugins.scan import TOOLS
from uwf_core.process.cancel import Cancel
from uwf_testing.contract import KIT_VERSION, needs
from uwf_testing.surroundings import Work, WorkContract, ends_within

__all__ = ["KIT_VERSION", "ToolContract"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SECRET = "kit-secret-5d0e4c1f77"

Use = Callable[..., Any]


class ToolContract(WorkContract):
    """The promises of a tool. The agent validates arguments against `parameters` before a call."""

    kind = "tool"
    group = TOOLS

    @pytest.fixture
    def arguments(self) -> Mapping[str, Any] | None:
        """The arguments of a call that succeeds."""
        return None

    @pytest.fixture
    def failing(self) -> Mapping[str, Any] | None:
        """The arguments of a call that fails."""
        return None

    @pytest.fixture
    def slow(self) -> Mapping[str, Any] | None:
        """The arguments of a call that takes longer than `stop_seconds` if nothing cancels it."""
        return None

    @pytest.fixture
    def workspace(self, tmp_path: Path) -> Path:
        """The folder of the call."""
        folder = tmp_path / "workspace"
        folder.mkdir()
        (folder / "README.md").write_text("# What was done\n", encoding="utf-8")
        return folder

    @pytest.fixture
    def use(self, record: ToolSpec, plugins: Plugins, plugin_name: str, workspace: Path) -> Use:
        """Calls a new tool, which is created as by an agent."""

        def call(arguments: Mapping[str, Any], cancel: Cancel | None = None) -> Any:
            made = plugins.attribute(TOOLS, plugin_name, record.factory)()
            env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
            context = ToolContext(cwd=str(workspace), env=env, cancel=cancel or Cancel())
            return made(arguments, context)

        return call

    @pytest.fixture
    def work(self, use: Use, arguments: Mapping[str, Any] | None) -> Work:
        """A call that succeeds."""
        if arguments is None:
            pytest.skip("no fixture 'arguments' is defined")
        return lambda: use(arguments)

    def check_announced(self, record: ToolSpec, name: str) -> None:
        """Check the name and the description, which the model reads."""
        assert record.name == name
        assert isinstance(record.description, str), "the description is a text"
        assert record.description.strip(), "the description says something"

    @needs("arguments")
    def test_models_can_call_it(self, record: ToolSpec, arguments: Mapping[str, Any]) -> None:
        """Its name has letters, digits, `_` and `-`, at most 64; its parameters are the JSON
        Schema of an object, and the arguments of the kit are valid.
        """
        assert _NAME.fullmatch(record.name), f"{record.name!r} is not a name that services accept"
        assert not schema_problems(record.parameters), "the parameters are not a JSON Schema"
        assert record.parameters.get("type") == "object", "the parameters are not an object"
        accepts = CompiledSchema(record.parameters).accepts
        assert accepts(dict(arguments)), "the fixture `arguments` does not fit the parameters"

    @needs("arguments")
    def test_the_answer_is_text(self, use: Use, arguments: Mapping[str, Any]) -> None:
        """A call returns text for the model, which can be stored."""
        answer = use(arguments)
        assert isinstance(answer, str), f"it returns {type(answer).__name__}"
        answer.encode()

    @needs("failing")
    def test_a_failure_says_what_is_wrong(self, use: Use, failing: Mapping[str, Any]) -> None:
        """A call that fails raises an exception with a message, which the model reads as an
        error. It never ends the process.
        """
        try:
            answer = use(failing)
        except Exception as error:
            assert str(error).strip(), f"{type(error).__name__} has no message"
        except BaseException as error:
            pytest.fail(f"it raises {type(error).__name__}, which ends the process")
        else:
            pytest.fail(f"it answers {answer!r:.200}, which the model takes for a success")

    @needs("arguments")
    def test_the_arguments_are_left_as_they_were(
        self, use: Use, arguments: Mapping[str, Any]
    ) -> None:
        """The tool does not change its arguments, which the step's turns record."""
        before = deepcopy(dict(arguments))
        use(arguments)
        assert arguments == before

    @needs("arguments")
    def test_the_environment_is_that_of_the_call(
        self, use: Use, arguments: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The answer has no variable of uwf's own process, where the keys of services are."""
        monkeypatch.setenv("KIT_API_KEY", _SECRET)
        assert _SECRET not in str(use(arguments)), "the model reads variables of uwf's process"

    @needs("slow")
    def test_it_stops_when_it_is_cancelled(self, use: Use, slow: Mapping[str, Any]) -> None:
        """A call ends when `context.cancel` is set, with an answer or an error."""
        cancel = Cancel()
        assert ends_within(self.stop_seconds, lambda: use(slow, cancel), cancel), (
            "it still runs after the cancel token was set"
        )
