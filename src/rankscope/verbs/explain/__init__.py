"""What each position adds to a value, for one run or for the difference of two."""
