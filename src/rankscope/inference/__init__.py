"""Statistical inference on arrays of values: intervals, paired tests, corrections, power, sequential testing."""

from __future__ import annotations

from typing import Any, TypeVar

from rankscope.declared import Declared, parameters, parse_all
from rankscope.errors import InputError

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

T = TypeVar("T", bound=Declared)


def names_offered(kind: str) -> tuple[str, ...]:
    """Return the names that help lists, of a ``test``, or of a ``test of logs``: all that fit.

    >>> names_offered("interval of logs")
    ('t', 'anytime', 'group_sequential')
    """
    plain = kind.removesuffix(" of logs")
    return (
        NAMES_FOR_LOGS[plain] if plain != kind else tuple(name for name in NAMES[plain] if name not in OWN_UNITS_ONLY)
    )


def find_method(kind: type[T], choice: Any, seed: int | None = None) -> T:
    """A test, interval or correction: from an object, a class, or a spelling like ``permutation(rounds=20000)``.

    ``seed`` is where its random numbers start, unless the spelling has a seed of its own. Raises InputError with the nearest name.

    >>> from rankscope.inference.base import Correction
    >>> find_method(Correction, "holm")
    holm
    """
    if kind.kind == "interval":  # the modules that declare methods of a kind are loaded when one is first looked up
        from rankscope.inference import bootstrap, intervals, sequences  # noqa: F401
    elif kind.kind == "test":
        from rankscope.inference import bootstrap, paired, permutation, ranks, sequential  # noqa: F401
    elif kind.kind == "correction":
        from rankscope.inference import anova, corrections, max_t  # noqa: F401
    if isinstance(choice, kind):
        method = choice
    elif isinstance(choice, type) and issubclass(choice, kind):
        method = choice()
    elif isinstance(choice, str):
        method = parse_all(kind, choice)[0]
    else:
        raise InputError(f"{kind.kind}={choice!r}: give the name of one, like {NAMES[kind.kind][0]!r}")
    if seed and "seed" in parameters(type(method)) and getattr(method, "seed", seed) == 0:
        method = method.having(seed=seed)
    return method
