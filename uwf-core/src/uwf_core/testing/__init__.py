"""What a workflow runs with in a test.

    mock            the mock agent: plays a script, so that a workflow runs without a model
    mock_script     the format of that script
    project         a throw-away project with a store of its own, to run uwf in

The contracts of plugins and the scripted model server are the distribution `uwf-testing`.
"""
