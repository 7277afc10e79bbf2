"""Measure a judge against gold labels, and let it count only if it reaches its bar.

A set (`set`) is asked about in several forms (`ask`), the scores become figures with verdicts
(`measure`), which are stored under the judge's identity (`catalog`); a run gives a judge without
them weight 0 (`weigh`).
"""
