"""A client of the Agent Client Protocol: sessions and prompts of any agent that speaks it.

Nothing here knows Hermes. An adapter for another agent brings a program and its peculiarities.
"""
