"""Integrations with running agents: hints and edit scripts for their processes, additions to their configuration."""
