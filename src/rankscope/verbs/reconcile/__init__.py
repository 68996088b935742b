"""Values of other tools under the name of a metric, and the conventions behind them."""
