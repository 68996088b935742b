"""Bound numbers over the grades of unjudged documents."""
