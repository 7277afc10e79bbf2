"""The process that sends what is due: started by a run at its end, or by a later command."""

import os
import sys

from uwf_core.engine.open_engine import open_engine
from uwf_core.errors import UwfError
from uwf_core.notices.sending import NotSent, Sender


def main() -> int:
    """Send what is due; 1 if a command failed. Errors go to `$UWF_HOME/notices/errors`."""
    try:
        engine = open_engine(env=os.environ, cwd=os.environ["UWF_HOME"])
        try:
            Sender(engine).run()
        finally:
            engine.close()
    except (NotSent, UwfError) as error:
        print(f"the notices were not sent: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
