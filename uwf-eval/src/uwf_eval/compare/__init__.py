"""Compares two lists of trials: is B better than A? All pure.

pairs -> measure -> verdict -> wording -> text
"""
