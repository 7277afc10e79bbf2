"""Test kits for plugins of uwf.

    agent_contract, store_contract, extractor_contract, judge_contract, model_contract, …
                    the promises of each kind of plugin, as a class of tests
    peer, harness   the scripted peer that an author writes; runs an agent for the kit
    python -m uwf_testing NAME   a table of the clauses that a plugin passes, for its README
    model_server    a scripted model: OpenAI chat completions and Anthropic messages on 127.0.0.1
    model_server_*  the format of its script, what it records, its two forms, its HTTP
    child_program   a scripted program that replaces the one of an agent

PYTEST_DONT_REWRITE (this file alone: the modules below are rewritten, see `contract`)
"""

__version__ = "0.1.0"
