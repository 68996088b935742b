"""Logs as other tools write them, each read into the rows of ours by one function."""
