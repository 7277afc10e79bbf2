"""The test kit.

    mock            the mock agent: plays a script, so that a workflow runs without a model
    mock_script     the format of that script
    project         a throw-away project with a store of its own, to run uwf in
    agent_contract, store_contract, extractor_contract, judge_contract
                    what every plugin of a kind promises, as a class of tests
    peer, rig       the scripted peer that an author writes; where the kit tries an agent
    python -m uwf_core.testing NAME   a table of what a plugin holds, for its README
    model_server    a scripted model: OpenAI chat completions and Anthropic messages on 127.0.0.1
    model_server_*  the format of its script, what it records, its two forms, its HTTP
    child_program   a scripted program in the place of a foreign one

The contracts need the extra `uwf-core[testing]`; nothing of the core imports any of it.

PYTEST_DONT_REWRITE (this file alone: the modules below are rewritten, see `contract`)
"""
