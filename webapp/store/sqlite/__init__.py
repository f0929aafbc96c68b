"""The store in SQLite: one file, one machine."""
