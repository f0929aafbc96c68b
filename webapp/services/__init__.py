"""What can be done: one file a use case, each gathers, lets `scoring` decide, applies, and publishes after commit."""
