"""Train rankers on labelled features or clicks, and compare them on other queries."""
