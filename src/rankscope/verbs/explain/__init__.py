"""The share of each position in a value, for one run or for the difference of two."""
