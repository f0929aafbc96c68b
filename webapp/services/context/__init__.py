"""Context: the message list that is sent to the model next, with memories and learnings."""
