"""The range of a metric over all orders of ties."""
