"""The command `uwf`; also `python -P -m uwf_core`.

Without `-P` Python itself looks for `uwf_core` in the current folder before it finds this file;
what is imported from here on does not come from there.

`--version` and completion are answered before the command line library is imported.
"""

import sys

INTERRUPTED = 130


def main() -> int:
    """Run the command that `sys.argv` says; its exit code."""
    try:
        return _run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules were still loading: nothing has begun
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    if sys.platform == "win32":
        print("uwf runs on Linux and macOS; on Windows use it within WSL", file=sys.stderr)
        return 2
    if arguments in (["--version"], ["-V"]):
        from uwf_core import __version__

        print(f"uwf {__version__}")
        return 0
    if arguments[:1] == ["__complete"]:
        from uwf_core.cli.complete import main as complete

        return complete(arguments[1:])
    import gc
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # an exception may be lost while modules load
    gc.set_threshold(
        100_000
    )  # the default looks for cycles a hundred times while modules load, and
    # a step makes less than half as many objects: it ends before the first search, 4 ms of its 100
    from uwf_core.cli.main import process
    from uwf_core.cli.shutdown import end_process

    return end_process(process(arguments))


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the current folder, which `python -m` has put there
    sys.exit(main())
