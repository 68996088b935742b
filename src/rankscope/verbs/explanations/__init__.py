"""Why a score is what it is: one query, two rankings, all queries."""
