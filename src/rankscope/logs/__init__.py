"""Online metrics, declared like offline ones, and the roll-up of a log to its units."""
