"""Judges score a trial.

api             the input of judges, and the function that runs all of a task
run_judge       runs one judge: repetitions, time limits, failures
context         shared by the judges of a trial: copies, environment, record
script          judges that are programs: `<entry> <cwd> <thread-id>`, and their verdicts
launcher        seals the output of a Python judge, so that nothing it starts can forge it
failed          the errors of judges and of their programs
builtin_judges  the table of built-in judges: add a new judge here
builtin/        the built-in judges
"""
