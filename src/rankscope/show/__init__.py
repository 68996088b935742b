"""Blocks made visible: terminal, Markdown, LaTeX, CSV."""
