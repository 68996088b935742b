"""One page of any result: sections that pick tables and charts."""
