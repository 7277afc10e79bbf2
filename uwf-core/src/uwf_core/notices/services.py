"""Send a notice to the services of `notify.services`, with apprise (the extra `notify`).

A separate program: it gets the message on stdin, and its exit code is 0 if all services took it.
"""

import json
import sys


def main() -> int:
    """Send the message of stdin."""
    message = json.load(sys.stdin)
    try:
        import apprise
    except ImportError:
        from uwf_core.plugins.repair import install_line

        cure = install_line("uwf-core[notify]")
        print(f"apprise is not installed; next: {cure}", file=sys.stderr)
        return 2
    services = apprise.Apprise()
    for number, each in enumerate(message["services"], 1):
        if not services.add(each):
            print(f"service {number} of notify.services is not a valid URL", file=sys.stderr)
            return 2
    lines = [message["message"], message["next"], message["url"]]
    body = "\n".join(line for line in lines if line) or message["task"]
    is_sent = services.notify(
        title=message["title"], body=body, body_format=apprise.NotifyFormat.TEXT
    )
    return 0 if is_sent else 1


if __name__ == "__main__":
    sys.exit(main())
