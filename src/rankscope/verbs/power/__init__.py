"""What queries can detect, and how many a difference needs."""
