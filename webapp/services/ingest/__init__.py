"""Ingest: everything that arrives, appended to the log and to the context in one transaction."""
