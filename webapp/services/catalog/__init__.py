"""Catalog: the list of sessions, the status of one, and search over all."""
