"""A workflow of one role that writes a note."""

NOTE = """
version: 1
name: note
roles:
  writer:
    goal: Write a note
    frontmatter:
      properties: {$status: {const: written}, text: {type: string}}
      required: [$status, text]
graph:
  $START:
    new: {role: writer, prompt: Write a note.}
    resume: {role: writer, prompt: Write again.}
  writer:
    written: {role: $END, prompt: Done.}
"""
