"""Runs and judgments that are Spark frames: scored where they lie, by the same functions as all others."""
