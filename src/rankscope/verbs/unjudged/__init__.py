"""How far unjudged documents could move a number."""
