"""Simulated users, their queries and their actions: logs with known truth."""
