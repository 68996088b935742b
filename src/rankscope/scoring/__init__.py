"""Evaluation of runs against judgments: what was requested, what was read, values of queries, means, the state of the data."""
