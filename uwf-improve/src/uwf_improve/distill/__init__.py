"""A recorded session of one agent -> a draft of a workflow, with the run as its first test.

read (one reader for each format) -> session -> phases -> draft -> record
"""
