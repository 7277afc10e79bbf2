"""Tools to test a workflow.

    mock            the mock agent, which plays a script: a workflow runs without a model
    mock_script     the format of that script
    project         a throw-away project with a separate store, to run uwf in
    crashes         the points at which a process may die

The contracts of plugins and the scripted model server are the distribution `uwf-testing`.
"""
