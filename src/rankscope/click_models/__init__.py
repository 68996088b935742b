"""Click models, fitted to pages of a log, and estimates of position bias."""
