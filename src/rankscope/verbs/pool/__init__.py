"""Whether judgments favour the runs that they were made from."""
