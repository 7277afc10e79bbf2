"""The built-in judges. A new one also needs a line in ../builtin_judges.py.

frontmatter  route  diff_size  amounts   count and compare, without a program or a model
command                                  runs one program
rubric  stepwise                         ask a model about the thread, or about each step
ask_model                                asks the model and verifies its quotes
material                                 the texts that the model gets; pure
"""
