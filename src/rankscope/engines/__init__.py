"""Engines: find the judged documents of each query, and map metrics over them."""
