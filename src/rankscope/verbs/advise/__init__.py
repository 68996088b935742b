"""Which metrics fit a task and its data."""
