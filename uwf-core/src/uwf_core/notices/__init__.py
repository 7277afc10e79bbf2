"""Notices: tell the user, by a command or a service, that a thread has stopped or ended.

    a run begins         engine.notices.mark_due      a file says that the thread may have events
    a run ends           engine.notices.send_soon     starts this package as a detached process
    __main__ -> sending  the events of the threads that are due (events), one after the other, each
                         marked once the command has exited with 0

The events are read from the stored thread, so a run writes nothing more for them. A crash at any
moment loses none, since the file stays until all are sent, and repeats at most the one in progress.
"""
