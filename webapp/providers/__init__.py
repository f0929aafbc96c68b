"""Calls to a model that the user has configured, for summaries only.

Calls do not raise: the result holds the answer and its cost, or the failure. The key is read from the environment, sent
only to the configured address, and appears in no message, log or error.
"""
