"""The module that uwf imports to list the plugins."""

from uwf_core.api import AgentSpec, Check, CheckResult, hookimpl


@hookimpl
def uwf_agents() -> list[AgentSpec]:
    """The agent `echo`."""
    return [
        AgentSpec(
            name="echo",
            summary="repeats its prompt",
            factory="uwf_agent_echo.agent:EchoAgent",
            options="uwf_agent_echo.agent:Options",
            capabilities=frozenset({"continue", "fork", "ask"}),
        )
    ]


@hookimpl
def uwf_checks() -> list[Check]:
    """For `uwf doctor` and `uwf plugin check`."""
    return [Check(name="cat is there", run=_look_for_cat)]


def _look_for_cat() -> CheckResult:
    from shutil import which

    if which("cat"):
        return CheckResult(state="ok", message="yes")
    return CheckResult(
        state="warning", message="there is no `cat`", hint="set the option `program`"
    )
