"""`uwf demo`: a small project with a failing test, and a workflow that fixes it, played by a
script.
"""
