"""Use cases, one file each: a service gathers, lets `scoring` decide, applies, and publishes after the commit."""
