"""Is B better than A: from two lists of trials to a verdict, and its text. All pure.

pairs -> metrics -> weigh -> verdict, plans -> text, markdown.
"""
