"""How far equal scores could move a number."""
