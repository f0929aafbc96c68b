"""Session: what every service shares: a session with its state, limits, gauges and history."""
