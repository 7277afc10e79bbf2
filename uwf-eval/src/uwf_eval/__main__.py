"""The command `uwf-eval`; also `python -P -m uwf_eval`."""

import sys

INTERRUPTED = 130


def main() -> int:
    """Run the command of `sys.argv` and return its exit code."""
    try:
        return _run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules were still loading: nothing has begun
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-V"]):
        from uwf_eval import __version__

        print(f"uwf-eval {__version__}")
        return 0
    import gc

    gc.set_threshold(20_000)  # the default looks for cycles a hundred times while modules load
    from uwf_eval.run import worker_process

    worker_process.begin(arguments)
    from uwf_core.commands import end_process, process
    from uwf_eval.cli.main import root

    code = process(arguments, lambda: root("uwf-eval"))
    worker_process.end()
    return end_process(code)


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the current folder, which `python -m` has put there
    sys.exit(main())
