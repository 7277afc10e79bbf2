"""`uwf demo`: a small project with a failing test, and a workflow that repairs it, played by a
script.
"""
