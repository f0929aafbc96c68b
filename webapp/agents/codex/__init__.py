"""Codex CLI: its rollout files and their items."""
