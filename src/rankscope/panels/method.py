"""How runs are compared: the test, the interval, the correction and its family, checked once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from rankscope import words
from rankscope.declared import one_of
from rankscope.errors import InputError
from rankscope.inference import find_method
from rankscope.inference.base import Correction, Interval, PairedTest
from rankscope.metrics import parse

FEWEST = 6  # differing queries below which no test of signs can reach 5%
POWER = 0.8

Family = Literal["metric", "all"]
T = TypeVar("T", PairedTest, Interval)


@dataclass(frozen=True)
class Method:
    """How runs are compared.

    ``test`` is None where none was asked for: the t test then, or the exact sign-flip test where too few queries differ for it.
    ``margin`` is what counts as practically equal, for all metrics or by the name of each, ``margin_words`` how it was said where that is no
    plain number (``1% of the baseline``); ``alpha`` the share of false differences that is accepted. ``bayes`` asks for the Bayesian bootstrap.

    ``level`` is that of the intervals; ``every_look`` says whether the test holds however often one looks, and ``in_order`` whether the
    order of the queries matters, as it does for who bets on one after the other.
    """

    test: PairedTest | None
    interval: Interval | None
    correction: Correction
    family: Family = "metric"
    alpha: float = 0.05
    margin: float | Mapping[str, float] | None = None
    margin_words: Mapping[str, str] = field(default_factory=dict)
    bayes: bool = False
    seed: int = 0
    level: float = field(init=False, repr=False, compare=False)
    every_look: bool = field(init=False, repr=False, compare=False)
    in_order: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        asked = [part for part in (self.test, self.interval) if part is not None]
        vars(self).update(
            level=1 - self.alpha,
            every_look=self.test is not None and self.test.every_look,
            in_order=any(part.in_order for part in asked),
        )

    def corrected_for(self, comparisons: int, noun: str = "comparison") -> str:
        """What a p-value was corrected for, to stand after it; empty where there is but one comparison."""
        if comparisons == 1 or not self.correction.corrects:
            return ""
        return f", {self.correction.name}-corrected for {words.counted(comparisons, noun)}"

    def check_margins(self, metrics: Sequence[str]) -> None:
        """Refuse a margin for a metric that is not compared."""
        unknown = [name for name in self.margin if name not in metrics] if isinstance(self.margin, Mapping) else []
        if unknown:
            raise InputError(f"margin of {unknown[0]}: it is not compared, there are {', '.join(metrics)}")

    def margin_of(self, metric: str) -> float | None:
        """The margin of a metric; None where there is none."""
        if isinstance(self.margin, Mapping):
            return self.margin.get(metric)
        return self.margin

    def margin_in_words(self, metric: str) -> str:
        """The margin of a metric, with the words in which it was said."""
        number = words.amount(self.margin_of(metric) or 0.0)
        return f"{self.margin_words[metric]} ({number})" if metric in self.margin_words else number


def method_of(  # noqa: PLR0913 - each is an option of the command line
    *,
    test: Any = None,
    interval: Any = None,
    correction: Any = "holm",
    family: Any = "metric",
    alpha: Any = 0.05,
    margin: Any = None,
    bayes: bool = False,
    seed: int = 0,
) -> Method:
    """A method from its parts, every one checked; InputError says in one line what cannot be used."""
    one_of("family", family, ("metric", "all"))
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 < alpha < 0.5:
        raise InputError(f"alpha={alpha!r}: alpha is a share above 0 and below 0.5, like 0.05")
    if test is None and interval is not None:
        test = _dual(find_method(Interval, interval), PairedTest)
    asked = None if test is None else find_method(PairedTest, test, seed)
    if interval is None and asked is not None:
        interval = _dual(asked, Interval)
    found = Method(
        test=asked,
        interval=None if interval is None else find_method(Interval, interval, seed),
        correction=find_method(Correction, correction, seed),
        family=family,
        alpha=float(alpha),
        margin=None if margin is None else _margin(margin),
        bayes=bayes,
        seed=seed,
    )
    if found.correction.joint and family == "all":
        raise InputError(
            f"correction={str(found.correction)!r} looks at the scores of one metric: use family='metric', or holm"
        )
    return found


def _dual(part: PairedTest | Interval, other: type[T]) -> T | None:
    """The test that belongs to an interval, or the interval that belongs to a test; None where the usual one does."""
    own = part.has_interval if isinstance(part, PairedTest) else part.has_test
    return find_method(other, str(part)) if own else None


def _margin(margin: Any) -> float | Mapping[str, float]:
    if isinstance(margin, Mapping):
        return {_spelling(metric): _positive(value) for metric, value in margin.items()}
    return _positive(margin)


def _spelling(metric: Any) -> str:
    """The canonical spelling of a metric; other names stay, as scores may be of anything."""
    try:
        return str(parse(metric))
    except InputError:
        return str(metric)


def _positive(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise InputError(f"margin={value!r}: a margin is a difference above 0 that would not matter, like 0.01")
    return float(value)
