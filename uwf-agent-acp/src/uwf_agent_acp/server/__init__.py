"""uwf as an agent of an editor: `uwf acp`, a server of the Agent Client Protocol (ACP) on stdio.

A session is a thread, and a prompt starts it, answers its question or resumes it. `content`,
`answers`, `questions`, `plan`, `updates` and `history` are pure: they translate between the
protocol and the documents of uwf. `conversation` is the course of one prompt, `service` has the
methods of the protocol, and `sessions`, `peer` and `stdio` are the edges.
"""
