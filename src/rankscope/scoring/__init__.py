"""Evaluation of runs against judgments: the request, the inputs, values of queries, means, the health of the data."""
