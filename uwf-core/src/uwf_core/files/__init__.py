"""The files of a thread: worktrees, snapshots, delivered files."""
