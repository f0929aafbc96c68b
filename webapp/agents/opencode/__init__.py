"""OpenCode: its database, and the older tree of JSON files."""
