"""Settings: who said what (flag, environment, project, user, default), trust, and changing them."""
