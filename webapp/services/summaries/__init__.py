"""Summaries: which messages one covers, who writes it, and putting it in their place."""
