"""Settings: layers (flag, environment, project, user, default), trust, and changes."""
