"""Browsing models, logging policies and ways of mixing rankings."""
