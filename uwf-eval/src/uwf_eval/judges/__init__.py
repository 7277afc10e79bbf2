"""What says how well a trial went.

api           the door: what judges are given, the one function that asks them all
asking        asks them: repeats, time limits, what a failure is
script        judges that are programs, under the contract `<entry> <cwd> <thread-id>`
verdict       the last line of a program's output as a score; pure
launcher      gives a Python judge an output that nothing it starts can write to
environment   what judges that are programs find in their environment; pure
house         the judges of this distribution by their names
faults        what is wrong with a judge before it is asked
builtin/      the judges of this distribution
"""
