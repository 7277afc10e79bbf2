"""The judges of this distribution, as plugins of it.

frontmatter  route  diff_size  amounts  tokens      count and compare; no program, no model
command                                             runs one program
rubric  claims  upstream                            ask a model, each step or the whole
examine                                             how a model is asked, and what it must show
material  quotes  grade                             what the others share; pure
"""
