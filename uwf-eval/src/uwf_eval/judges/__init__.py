"""What says how well a trial went.

api       what judges are given; the one function that asks them all
asking    asks them: repeats, time limits, failures
context   what the judges of a trial share: copies, environment, record
script    judges that are programs, under the contract `<entry> <cwd> <thread-id>`
launcher  seals the output of a Python judge, so that nothing it starts can forge it
verdict   the last line of a program's output as a score; pure
failed    how a judge, or its program, ends without a score
catalog   the built-in judges by name
builtin/      the judges of this distribution
"""
