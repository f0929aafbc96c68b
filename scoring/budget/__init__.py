"""Budget: the regions of the context window, and the triggers that say when one is full."""
