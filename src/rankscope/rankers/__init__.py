"""Rankings made from other rankings: fusion and normalisation of scores."""
