"""Calls out to a model that the user has configured, for summaries and nothing else.

Nothing here raises into its caller: what comes back says what was answered, what it cost, or what went wrong. A key is
read from the environment, is sent to the configured address only, and stands in no message, log or error.
"""
