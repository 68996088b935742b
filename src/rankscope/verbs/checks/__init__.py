"""A linter for evaluations: rules with codes."""
