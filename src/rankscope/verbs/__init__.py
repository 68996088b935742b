"""Verbs: what a user asks for, each a function that returns a result."""
