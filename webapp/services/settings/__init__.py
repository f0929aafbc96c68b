"""Settings: the settings and model table common to all sessions, and suggested weights."""
