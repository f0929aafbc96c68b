"""Summaries: what they are, the one that needs no model, and how a model is asked for one."""
