"""The queries of a page to look into, document by document."""
