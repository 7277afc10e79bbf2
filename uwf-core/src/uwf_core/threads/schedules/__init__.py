"""Schedules: threads that are started at the times of a cron expression."""

SCHEDULES = "@uwf/schedule/"
"""The variables of schedules, by name."""
