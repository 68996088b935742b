"""Statistical inference on arrays of values: intervals, paired tests, corrections, power, sequential testing."""

from __future__ import annotations

# the names of each kind, the usual one first: help lists them without loading what they do
NAMES = {
    "interval": (
        "t",
        "anytime",
        "bca",
        "bernstein",
        "betting",
        "group_sequential",
        "percentile",
        "studentised",
        "wilson",
    ),
    "test": (
        "t",
        "anytime",
        "bernstein",
        "betting",
        "bootstrap",
        "group_sequential",
        "mann_whitney",
        "permutation",
        "sign",
        "wilcoxon",
    ),
    "correction": ("holm", "bh", "bonferroni", "max_t", "none", "randomised_tukey", "tukey"),
}
# the names that fit variants with units of their own
NAMES_FOR_LOGS = {
    "interval": ("t", "anytime", "group_sequential"),
    "test": ("t", "anytime", "bootstrap", "group_sequential", "mann_whitney", "permutation"),
    "correction": ("holm", "bh", "bonferroni", "none"),
}

OWN_UNITS_ONLY = ("mann_whitney",)  # of the tests, those that do not fit runs on the same queries


def names_offered(kind: str) -> tuple[str, ...]:
    """Return the names that help lists, of a ``test``, or of a ``test of logs``: all that fit.

    >>> names_offered("interval of logs")
    ('t', 'anytime', 'group_sequential')
    """
    plain = kind.removesuffix(" of logs")
    return (
        NAMES_FOR_LOGS[plain] if plain != kind else tuple(name for name in NAMES[plain] if name not in OWN_UNITS_ONLY)
    )
