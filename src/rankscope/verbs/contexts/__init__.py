"""Contexts retrieved for the questions of a language model."""
