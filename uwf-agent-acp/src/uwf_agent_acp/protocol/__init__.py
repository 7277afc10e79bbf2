"""The Agent Client Protocol: messages, a connection for both sides, and the client's methods.

Nothing here knows an agent. An adapter brings a program and its quirks.
"""
