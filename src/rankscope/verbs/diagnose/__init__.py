"""The losses of a run, and their causes."""
