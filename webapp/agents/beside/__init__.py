"""Programs in an agent's own processes: hooks and status lines, which it starts, and extensions, which it loads.

They have a few milliseconds, so they import the standard library only and read what the server left for them in small
files (`hints`). They never fail: an agent is not held up by us.
"""
