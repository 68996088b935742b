"""Pages: blocks as one self-contained HTML file, and as HTML for a notebook."""
