"""Reading: lines, growing files, JSON documents and databases that other programs write."""
