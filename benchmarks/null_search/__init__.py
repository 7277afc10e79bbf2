"""Null search: what does a gate accept when no edit changes anything?

A search tries edits of a workflow, and a gate decides which of them to keep. Here the true gain of
each edit is known, because the scores are simulated (or drawn from recorded trials of one version),
so false acceptances, claimed gains and the chance to accept a right edit can be counted. Any gate
can be tried: a callable that takes a `Search` and returns an `Outcome`.

scores -> search -> gates -> tally; `python -m benchmarks.null_search --help`
"""
