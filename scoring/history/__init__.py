"""History: everything known about the messages of a session, computed once per message."""
