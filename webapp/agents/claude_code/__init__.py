"""Claude Code: its transcripts, their rows and branches."""
