"""Sealed sets of tasks: the split, the bar, the chain of tests, and the test of an edit.

tasks -> sealing -> confirm (begun -> trials -> decided), each stored in catalog as records
"""
