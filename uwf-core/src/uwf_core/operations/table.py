"""The table of uwf's own operations, and how its help is ordered."""

from typing import Final

from uwf_core.operations.declare import Table

TABLE: Final = Table(
    "uwf_core",
    sections={
        "Every day": ("run", "inbox", "watch", "thread", "step"),
        "Writing workflows": ("workflow", "replay", "eval", "improve", "prompt"),
        "Set up": ("demo", "setup", "agent", "config", "plugin", "doctor", "completion"),
        "The store": ("store", "cas", "bundle", "log", "usage"),
        "Time and servers": ("tick", "schedule", "worker", "web", "mcp", "acp"),
    },
    groups={
        "thread": "Threads: runs of workflows",
        "step": "Steps: each the work of one role in a thread",
        "workflow": "Workflows: roles and the graph that connects them",
        "agent": "Agents: the programs that play the roles",
        "plugin": "Plugins: installed distributions that extend uwf",
        "config": "Settings, their origins, and trusted folders",
        "cas": "The store: nodes and their types",
        "cas.schema": "The types of nodes",
        "schedule": "Schedules: threads that start at set times",
        "store": "Whole stores: check, migrate, copy, move, prune",
        "bundle": "Bundles: threads exported to files",
        "log": "Past commands and their errors",
        "prompt": "Documents that teach an agent to use uwf",
    },
)
operation, command = TABLE.operation, TABLE.command
