"""Reaching the agent: hints for programs that run beside it, and additions to its own configuration."""
