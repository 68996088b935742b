"""Mutated inputs of every format against a slow reference: ``python -m fuzzing``."""
