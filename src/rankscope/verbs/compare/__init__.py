"""Which run is better, by how much, and whether the difference is real."""
