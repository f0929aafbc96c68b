"""Gemini CLI: its session files and their records."""
