"""How runs are compared, checked once: test, interval and correction, margins, and whether the data allow a verdict."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from rankscope import words
from rankscope.declared import Declared, one_of, parameters, parse_all
from rankscope.errors import InputError
from rankscope.inference import NAMES, NAMES_FOR_LOGS
from rankscope.inference.base import Correction, Interval, PairedTest

GUARDRAIL = re.compile(r"(.*\S)\s*=\s*([^()]*?)\s*", re.DOTALL)  # an = in brackets belongs to the metric


class HasRange(Protocol):
    """A metric with a range of values."""

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest value."""


@dataclass(frozen=True)
class Margin:
    """A margin as it was chosen: a number, or a share of the baseline's mean.

    >>> Margin(0.02, relative=True).of(-0.5), str(Margin(0.02, relative=True)), str(Margin(0.01))
    (0.01, '2% of the baseline', '0.01')
    """

    number: float
    relative: bool = False

    def of(self, baseline: float) -> float:
        """Return the margin as a number for a baseline with this mean."""
        return self.number * abs(baseline) if self.relative else self.number

    def __str__(self) -> str:
        return f"{self.number * 100:g}% of the baseline" if self.relative else f"{self.number:g}"

    def fitting(self, metric: HasRange) -> Margin:
        """Return this tolerance for a metric. Raises InputError if no loss could ever exceed it."""
        low, high = metric.range
        if not self.relative and self.number >= high - low:
            raise InputError(
                f"tolerance {self} for {metric}, which goes from {words.amount(low)} to {words.amount(high)}, would pass everything; "
                f"{self.number:g} percent of the baseline is written '{self.number:g}%'"
            )
        return self


def read_margin(value: Any, name: str, meaning: str = "a difference that would not matter") -> Margin:
    """Read a margin: a number above 0, or a percentage of the baseline. Raises InputError with ``name`` and ``meaning``.

    >>> read_margin("1%", "margin"), read_margin(0.01, "margin")
    (Margin(number=0.01, relative=True), Margin(number=0.01, relative=False))
    """
    if isinstance(value, Margin):
        return value
    share = words.as_share(value)
    if share is None or not 0 < share[0] < math.inf:
        raise InputError(
            f"{name}: {meaning} must be a number above 0, like 0.01, or a share of the baseline, like '1%'"
        )
    return Margin(*share)


def split_margin(guardrail: Any) -> tuple[Any, Any]:
    """Return a metric and its margin, or None: of a pair, or of a text like ``R@100=1%``.

    >>> split_margin("Mean(where='a=1')=1%"), split_margin("R@100"), split_margin(("R@100", 0.01))
    (("Mean(where='a=1')", '1%'), ('R@100', None), ('R@100', 0.01))
    """
    name, loss = guardrail if isinstance(guardrail, tuple) else (guardrail, None)
    if isinstance(name, str) and loss is None and (match := GUARDRAIL.fullmatch(name)):
        return match[1], match[2]
    return name, loss


def read_tolerance(value: Any, name: str) -> Margin:
    """Read the loss that a gate accepts: a number of at least 0, or a percentage up to 100%. Raises InputError with ``name``."""
    number, relative = words.as_share(value) or (math.nan, False)
    if not 0 <= number < math.inf or (relative and number > 1):
        raise InputError(
            f"{name} {value!r}: a tolerance must be a number of at least 0 like 0.01, or a percentage of the baseline like '2%'"
        )
    return Margin(number, relative)


def read_margins(margin: Any) -> Margin | Mapping[str, Margin] | None:
    """Read one margin for all metrics, or margins by the canonical name of each. Raises InputError for other values."""
    if margin is None:
        return None
    if not isinstance(margin, Mapping):
        return read_margin(margin, f"margin={margin!r}")
    from rankscope.metrics import spelled

    return {
        spelled(metric) or str(metric): read_margin(value, f"margin of {metric}: {value!r}")
        for metric, value in margin.items()
    }


FEWEST = 6  # differing queries below which no test of signs can reach 5%
POWER = 0.8

Family = Literal["metric", "all"]
TWO_SIDED = "two-sided"
ALTERNATIVES = {TWO_SIDED: "different", "better": "better", "worse": "worse", "greater": "higher", "less": "lower"}
T = TypeVar("T", PairedTest, Interval)
D = TypeVar("D", bound=Declared)


@dataclass(frozen=True)
class Method:
    """How systems are compared.

    ``test`` is None by default: t, or the exact sign-flip test if too few queries differ for it. ``margin`` counts as practically equal,
    for all metrics or by the name of each. ``alpha`` is the share of false differences that is accepted, ``level`` is the level of the
    intervals, 1 - alpha. ``alternative`` is two-sided, or the only side that is tested: better or worse by the direction of each metric, greater
    or less by its value. A one-sided test at alpha has intervals at 1 - 2 alpha, of which the end on the other side decides. ``bayes`` asks for the Bayesian bootstrap. ``every_look`` is true if the test holds however often one looks,
    ``in_order`` if it depends on the order of the queries.
    """

    test: PairedTest | None
    interval: Interval | None
    correction: Correction
    family: Family = "metric"
    alpha: float = 0.05
    margin: Margin | Mapping[str, Margin] | None = None
    bayes: bool = False
    seed: int = 0
    alternative: str = TWO_SIDED
    level: float = field(init=False, repr=False, compare=False)
    every_look: bool = field(init=False, repr=False, compare=False)
    in_order: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = [part for part in (self.test, self.interval) if part is not None]
        vars(self).update(
            level=self.confidence(self.alpha),
            every_look=self.test is not None and self.test.every_look,
            in_order=any(part.in_order for part in parts),
        )

    @property
    def one_sided(self) -> bool:
        """True if one side is tested."""
        return self.alternative != TWO_SIDED

    def confidence(self, alpha: float) -> float:
        """Return the level of the interval that agrees with the test at alpha."""
        return 1 - (2 * alpha if self.one_sided else alpha)

    def side(self, metric: str, sign: int) -> int:
        """Return the direction of the differences that are tested, 0 for both. ``sign`` is the better direction. Raises InputError without one."""
        if self.alternative in {"better", "worse"} and not sign:
            raise InputError(
                f"alternative={self.alternative!r}: {metric} has no better direction: use 'greater', 'less' or 'two-sided'"
            )
        return {"better": sign, "worse": -sign, "greater": 1, "less": -1}.get(self.alternative, 0)

    def corrected_for(self, comparisons: int, noun: str = "comparison") -> str:
        """Return the correction in words, to follow a p-value: ``, Holm-corrected for 2 comparisons``; empty for one comparison."""
        if comparisons == 1 or not self.correction.corrects:
            return ""
        return f", {self.correction.name}-corrected for {words.counted(comparisons, noun)}"

    def check_margins(self, metrics: Sequence[str]) -> None:
        """Refuse a margin for a metric that is not compared. Raises InputError."""
        unknown = [name for name in self.margin if name not in metrics] if isinstance(self.margin, Mapping) else []
        if unknown:
            raise InputError(f"margin of {unknown[0]}: it is not compared, there are {', '.join(metrics)}")

    def margin_of(self, metric: str) -> Margin | None:
        """Return the margin of a metric, or None."""
        return self.margin.get(metric) if isinstance(self.margin, Mapping) else self.margin

    def corrected_alpha(self, comparisons: int) -> float:
        """Return the level of each of several tests of a margin: Bonferroni's, whatever corrects the differences."""
        return self.alpha / (comparisons if self.correction.corrects else 1)


def method_of(  # noqa: PLR0913 - each is an option of the command line
    *, test: Any = None, interval: Any = None, correction: Any = "holm", family: Any = "metric", alpha: Any = 0.05,
    margin: Any = None, bayes: bool = False, seed: int = 0, alternative: Any = TWO_SIDED,
) -> Method:  # fmt: skip
    """Return a method from its parts, each of them checked. Raises InputError."""
    one_of("family", family, ("metric", "all"))
    one_of("alternative", alternative, tuple(ALTERNATIVES))
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 < alpha < 0.5:
        raise InputError(f"alpha={alpha!r}: alpha is a share above 0 and below 0.5, like 0.05")
    if test is None and interval is not None:
        test = _dual(find_method(Interval, interval), PairedTest)
    chosen = None if test is None else find_method(PairedTest, test, seed)
    if interval is None and chosen is not None:
        interval = _dual(chosen, Interval)
    own_interval = None if interval is None else find_method(Interval, interval, seed)
    corrects = find_method(Correction, correction, seed)
    method = Method(
        chosen, own_interval, corrects, family, float(alpha), read_margins(margin), bayes, seed, alternative
    )
    if method.correction.joint and family == "all":
        raise InputError(
            f"correction={str(method.correction)!r} looks at the scores of one metric: use family='metric', or holm"
        )
    return method


def require_own_units(part: PairedTest | Interval | None) -> None:
    """Raise InputError for a test or an interval that compares systems on units that they share."""
    fits = part is None or (part.takes_own_units() if isinstance(part, PairedTest) else part.by_moments)
    if not fits:
        kind = "test" if isinstance(part, PairedTest) else "interval"
        offered = words.listing(NAMES_FOR_LOGS[kind], most=9, last="or")
        raise InputError(
            f"the {kind} {part} is for systems that share units, as runs share queries: for units of their own use {offered}"
        )


def _dual(part: PairedTest | Interval, other: type[T]) -> T | None:
    own = part.has_interval if isinstance(part, PairedTest) else part.has_test
    return find_method(other, str(part)) if own else None


@dataclass(frozen=True)
class Validity:
    """Whether the data allow a verdict at all, and if not, the reason and the exit code of commands.

    A family of comparisons has one validity and passes it to each contrast, so that a verdict is withheld in the contrast itself.
    ``exit_code`` is 3 if the data refuse an answer, 4 if nothing can be told.

    >>> split = Validity.unless(False, "users were not split as planned (p < 0.001)")
    >>> split.holds, split.exit_code
    (False, 3)
    """

    holds: bool = True
    reason: str = ""
    exit_code: int = 0

    @classmethod
    def unless(cls, holds: bool, reason: str, exit_code: int = 3) -> Validity:
        """Valid if ``holds``, otherwise withheld for a reason."""
        return VALID if holds else cls(False, reason, exit_code)


VALID = Validity()


def find_method(kind: type[D], choice: Any, seed: int | None = None) -> D:
    """A test, interval or correction: from an object, a class, or a spelling like ``permutation(rounds=20000)``.

    ``seed`` is where its random numbers start, unless the spelling has a seed of its own. Raises InputError with the nearest name.

    >>> from rankscope.inference.base import Correction
    >>> find_method(Correction, "holm")
    holm
    """
    if kind.kind == "interval":  # the modules that declare methods of a kind are loaded when one is first looked up
        from rankscope.inference import bootstrap, intervals, sequences  # noqa: F401
    elif kind.kind == "test":
        from rankscope.inference import bootstrap, paired, ranks, sequential  # noqa: F401
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
