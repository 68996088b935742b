"""Planning: what queries can show, and how many a difference needs."""
