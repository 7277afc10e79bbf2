"""The test kit.

    mock            the mock agent: plays a script, so that a workflow runs without a model
    mock_script     the format of that script
    project         a throw-away project with a store of its own, to run uwf in
    store_contract  what every store has to promise, as a class of tests
    model_server    a scripted model: OpenAI chat completions and Anthropic messages on 127.0.0.1
    model_server_*  the format of its script, what it records, its two forms, its HTTP
    child_program   a scripted program in the place of a foreign one

Only `store_contract` needs pytest; nothing of the core imports any of it.
"""
