"""What holds for every test."""

import signal

# Who starts the tests in the background may have them ignore Ctrl-C and hang-ups, and so every
# program that they start; but many tests are about these.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
