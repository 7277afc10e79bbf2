"""What holds for every test."""

import signal

# A shell that starts the tests in the background lets them ignore Ctrl-C, and so every program
# that they start; but many tests are about Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
