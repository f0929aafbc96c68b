"""Programs in an agent's own processes: hooks and status lines, which it starts, and extensions, which it loads.

They have only a few milliseconds, so they import just the standard library and read small files that the server wrote
for them (`hints`). They never fail, so that they never hold up an agent.
"""
