"""The test kit.

    mock            the mock agent: plays a script, so that a workflow runs without a model
    mock_script     the format of that script
    project         a throw-away project with a store of its own, to run uwf in
    store_contract  what every store has to promise, as a class of tests
"""
