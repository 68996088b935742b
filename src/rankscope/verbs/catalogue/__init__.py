"""The metrics that there are, explained."""
