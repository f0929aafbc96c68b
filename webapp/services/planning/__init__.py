"""Planning: plans over a session, and its messages with scores, fates and reasons."""
