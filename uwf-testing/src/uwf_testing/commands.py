"""The commands that this distribution adds to uwf."""

from uwf_core.operations.declare import Table

TABLE = Table("uwf_testing")
TABLE.command("plugin.new", "new_plugin:new")
