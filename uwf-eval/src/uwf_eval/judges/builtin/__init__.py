"""The built-in judges, as plugins of this distribution.

frontmatter  route  diff_size  amounts   count and compare; no program, no model
command                                  runs one program
rubric  stepwise                         ask a model about the whole, or about each step
examine                                  how a model is asked, and which quotes it must show
material                                 what a model is shown; pure
"""
