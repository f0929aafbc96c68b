"""Sessions whose calls went through the proxy: taken in from copies of the calls, and reached by edit scripts."""
