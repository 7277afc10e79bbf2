"""The graph of a workflow as a picture: shape, layout and SVG are pure, and know no web server.

`shape` reads a workflow's document, `rows` and `layout` place its nodes and labels, `states` adds
what a thread did, and `svg` and `table` render both.
"""
