"""The walkthrough: a workflow whose roles exercise every command of uwf."""
