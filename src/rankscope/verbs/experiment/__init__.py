"""The verb ``experiment``: which variant is better online, by how much, and whether that can be believed."""
