"""`coppice follow --to`: follows the transcripts of this machine and pushes them to a server on another one.

It needs neither a server nor a database here, and imports neither.
"""
