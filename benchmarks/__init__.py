"""rankscope and its peers, side by side."""
