"""Schedules: threads that are started at the times of a cron expression."""
