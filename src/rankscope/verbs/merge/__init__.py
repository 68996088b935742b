"""Put the partial results of one evaluation together."""
