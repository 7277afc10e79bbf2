"""`hookimpl`: the mark of a hook's implementation."""

import pluggy

hookimpl = pluggy.HookimplMarker("uwf")
