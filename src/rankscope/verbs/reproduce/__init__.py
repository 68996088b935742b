"""Compare a reproduced run with the original: rankings, scores, effects."""
