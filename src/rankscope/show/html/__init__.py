"""Pages: blocks as one HTML file that needs nothing else, and as HTML for a notebook."""
