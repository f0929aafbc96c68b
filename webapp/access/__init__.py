"""Access to the server: the gate before every request, tokens, sign-ins of browsers, and limits on failed attempts."""
