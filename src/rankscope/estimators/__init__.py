"""Estimators of the value that another policy would have had, from the log of the policy that ran."""
