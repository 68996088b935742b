"""Position bias: how probable it is that users look at each place."""
