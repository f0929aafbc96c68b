"""Context: the message list the model is sent next, with memories and learnings."""
