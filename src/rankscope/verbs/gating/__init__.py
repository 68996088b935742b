"""The gate: a verdict for continuous integration, and the baselines it trusts."""
