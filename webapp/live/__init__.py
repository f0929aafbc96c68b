"""Live: the Socket.IO gateway: notices, throttling and rooms. The only part that emits."""
