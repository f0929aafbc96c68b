"""Pruning: operations that change a context, by hand, automatic or in an emergency, and their undo."""
