"""Models: names, windows, limits and prices, each with its source and date."""
