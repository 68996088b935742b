"""Further looks at scores: bands of ranks, ceilings, curves over ranks, overlap of runs."""
