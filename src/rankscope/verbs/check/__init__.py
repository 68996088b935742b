"""What is odd about the data, and what it does to the numbers."""
