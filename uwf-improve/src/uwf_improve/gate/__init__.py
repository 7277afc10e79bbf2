"""The gate of an improvement, pure: which tasks are sealed, and whether an edit is accepted.

sides -> (trials) -> evidence -> decide, under the bar that was stored before the first trial
"""
