"""How many queries would show a difference."""
