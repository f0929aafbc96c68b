"""Calls to a model that the user has configured, for summaries only.

Nothing here raises into its caller: the result holds the answer and its cost, or what went wrong. A key is read from
the environment, is sent to the configured address only, and appears in no message, log or error.
"""
