"""Reads what coding agents write on disk: finds transcripts, follows their growth, decodes their rows to records.

Nothing here writes, opens an agent's file for writing, or knows the store. One module an agent; `records` is what
they all speak.
"""
