"""Access: tokens, browser sessions, and the failures of those who guess."""
