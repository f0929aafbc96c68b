"""Access to the server: the gate before every request, tokens, browser sessions, and limits on failed attempts."""
