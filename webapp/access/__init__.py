"""Access: tokens, browser sessions, and limits on failed attempts."""
