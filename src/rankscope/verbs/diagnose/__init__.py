"""What a run loses, and why."""
