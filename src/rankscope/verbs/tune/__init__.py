"""Choose parameters, and measure the gain on queries that did not choose them."""
