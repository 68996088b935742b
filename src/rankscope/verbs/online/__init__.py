"""Online metrics: what users did with what they were shown."""
