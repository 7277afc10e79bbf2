"""Runs the trials of an evaluation in worker processes.

start           a new run, or a resumed one
prepare         validates the arguments and plans the trials, before the first one starts
run_loop        which trial is next, budget, storing of results
executor, pool  the interface of executors; the default, a pool of worker processes
worker          the program of a worker; messages: what it exchanges with the run
"""
