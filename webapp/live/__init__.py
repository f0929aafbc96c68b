"""The Socket.IO gateway with its notices, throttling and rooms. No other package emits."""
