"""Pass or fail a change."""
