"""The agreement of rankings, without judgments."""
