"""Lists: the front door for bare message lists in any wire format, outside any store."""
