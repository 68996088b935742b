"""Runs and judgments that are Spark frames: scored on the cluster, by the same functions as all others."""
