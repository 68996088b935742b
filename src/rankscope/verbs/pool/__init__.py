"""Test if judgments favour the runs of their pool."""
