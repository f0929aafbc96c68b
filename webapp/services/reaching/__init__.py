"""Reaching the agent: hints for what runs beside it, and what is added to its own configuration."""
