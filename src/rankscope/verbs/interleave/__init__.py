"""Mix the rankings of runs into interleaved lists."""
