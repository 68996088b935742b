"""What other tools print under the name of a metric, and why."""
