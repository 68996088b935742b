"""Which metrics fit the data and the task."""
