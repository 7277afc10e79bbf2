"""Schedules: threads that workers start at the times of a cron expression."""
