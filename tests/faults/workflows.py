"""The workflows of the threads to which something happens."""

WORKFLOW = """
version: 1
name: loop
roles:
  writer:
    goal: Write it.
    limits: {maxUnchanged: 0}
    frontmatter:
      type: object
      properties: {$status: {const: done}, note: {type: string}}
      required: [$status, note]
  checker:
    goal: Check it.
    limits: {maxUnchanged: 0}
    frontmatter:
      oneOf:
        - properties: {$status: {const: good}}
          required: [$status]
        - properties: {$status: {const: again}}
          required: [$status]
graph:
  $START:
    new: {role: writer, prompt: Write it.}
    resume: {role: writer, prompt: There is more to do.}
  writer:
    done: {role: checker, prompt: "Check it: {{note}}"}
  checker:
    good: {role: $END, prompt: Done.}
    again: {role: writer, prompt: Once more.}
"""
PART = WORKFLOW.replace("name: loop", "name: part").replace(
    "again: {role: writer, prompt: Once more.}", "again: {role: $END, prompt: Done.}"
)
CALLER = """
version: 1
name: caller
roles:
  work: {workflow: part}
graph:
  $START:
    new: {role: work, prompt: Do it.}
    resume: {role: work, prompt: There is more to do.}
  work:
    good: {role: $END, prompt: Done.}
    again: {role: work, prompt: Once more.}
"""
"""Calls `part` again and again: one pair of the script is one call."""
BRANCHES = """
version: 1
name: branches
roles:
  writer:
    goal: Write it.
    limits: {maxUnchanged: 0}
    frontmatter:
      type: object
      properties: {$status: {const: done}, note: {type: string}}
      required: [$status, note]
  work: {workflow: part}
graph:
  $START:
    new: {role: writer, prompt: Write it.}
    resume: {role: writer, prompt: There is more to do.}
  writer:
    done:
      parallel:
        one: {role: work, prompt: "Do this: {{note}}"}
        two: {role: work, prompt: "Do the opposite of this: {{note}}"}
      shared: true
      then:
        again: {role: writer, prompt: Once more.}
        $mixed: {role: $END, prompt: Done.}
"""
"""A step and two branches, again and again; a branch is a pair of the script."""
RECORDED = WORKFLOW.replace("name: loop", "name: recorded\nrecord: true").replace(
    "note: {type: string}}\n      required: [$status, note]",
    "note: {type: string}, report: {type: string, format: file}}\n"
    "      required: [$status, note, report]",
)
"""Its steps record the files of their folder, and each written one delivers one of these."""
WORKTREE = RECORDED.replace("name: recorded", "name: worktree\nworkspace: worktree")
