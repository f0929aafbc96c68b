"""The proxy: forwards calls between an agent and its provider, in a process of its own (X13).

It forwards bytes and afterwards hands a copy to the server. For sessions that are switched on it sends the pruned
context: it applies the server's edit script to the text of the request itself, so that no answer waits for the server.
It never re-encodes a body, stores no credentials, and sends the request unchanged if anything goes wrong.
"""
