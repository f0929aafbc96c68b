"""Planning: which messages a prune takes out or shortens, and why. It decides and never acts."""
