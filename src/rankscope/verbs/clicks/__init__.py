"""Click models of a log, side by side."""
