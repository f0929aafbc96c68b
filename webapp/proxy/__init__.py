"""The proxy: forwards calls between an agent and its provider, in a process of its own (X13).

It passes bytes on and afterwards hands a copy to the server. For sessions that are switched on it sends the pruned
context: it applies the server's edit script to the text of the request, here, so that no answer waits for the server.
It never re-encodes anything, stores no credentials, and if anything is wrong it sends the request unchanged.
"""
