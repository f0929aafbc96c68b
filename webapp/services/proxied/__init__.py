"""Sessions whose calls went through the proxy: appended from copies of the calls, and pruned by edit scripts."""
