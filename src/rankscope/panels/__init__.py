"""Values of systems on units, and what can be inferred from them: contrasts, families, slices, trade-offs."""
