"""Webhooks: events posted to other programs."""
