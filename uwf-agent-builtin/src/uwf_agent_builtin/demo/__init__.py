"""The agent of `uwf demo` where this distribution is installed: the builtin agent, whose model is a
script on 127.0.0.1.
"""
