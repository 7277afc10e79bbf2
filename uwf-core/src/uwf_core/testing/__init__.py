"""The test kit: contracts that every plugin can be held to, and the mock agent.

`mock` plays a YAML script, so that a workflow is tried without a model: `uwf_core.testing.mock`
is the agent, `uwf_core.testing.mock_script` the format of its script.
"""
