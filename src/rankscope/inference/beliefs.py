"""What to believe of a lift: a prior, a normal likelihood of the logarithm of the ratio, and the posterior that both give."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from rankscope import words
from rankscope.errors import InputError
from rankscope.inference.base import Bounds, Estimate, Sample
from rankscope.inference.effects import ratio_in_logarithms

FLAT = "flat"


@dataclass(frozen=True)
class Prior:
    """What was believed of a lift before: nothing (``deviation`` is infinite), or that it is normal around 0 with this standard deviation.

    It is of the logarithm of the ratio, which for small lifts is the lift: 0.05 says that two of three changes move a metric by less than 5%.
    """

    deviation: float = math.inf

    def __str__(self) -> str:
        return FLAT if math.isinf(self.deviation) else f"normal, standard deviation {words.amount(self.deviation)}"

    @classmethod
    def of(cls, said: object) -> Prior:
        """The prior that is said as ``flat``, or as its standard deviation: ``0.05``, ``"5%"``. Raises InputError for anything else.

        >>> str(Prior.of("flat")), Prior.of("5%").deviation
        ('flat', 0.05)
        """
        if isinstance(said, Prior):
            return said
        if str(said).strip().casefold() == FLAT:
            return cls()
        found = words.as_share(said)
        if found is None or not 0 < found[0] < math.inf:
            raise InputError(
                f"prior={said!r}: a prior is 'flat', or how far lifts usually are from 0, a standard deviation above 0 like 0.05"
            )
        return cls(found[0])


@dataclass(frozen=True)
class LiftPosterior:
    """What is believed of a lift: ``chance_better`` that it is in the better direction, and the ``credible`` interval that holds it.

    ``expected_loss`` is what choosing the variant would lose on average, as a share of the baseline: the loss where it is worse, and nothing
    where it is better. ``centre`` and ``deviation`` are those of the logarithm of the ratio. Where there is none, all are NaN and
    ``credible`` says why.
    """

    source: ClassVar[str] = (
        "Stucchio, Bayesian A/B testing at VWO, 2015 (expected loss); Gelman et al., Bayesian Data Analysis, 2013"
    )

    chance_better: float
    expected_loss: float
    credible: Bounds
    centre: float
    deviation: float


def posterior_of_lift(
    run: Sample | Estimate,
    baseline: Sample | Estimate,
    prior: Prior,
    level: float = 0.95,
    better: Literal["higher", "lower", "neither"] = "higher",
) -> LiftPosterior:
    """What to believe of the relative difference of two means over units of their own, given what was believed before.

    The likelihood is that of ``relative_of_own``: the logarithm of the ratio is normal, with the error of the delta method. A normal prior
    around 0 draws it towards 0. Without a direction higher counts as better.

    >>> one, other = Estimate.of(1.1, 0.04, 100), Estimate.of(1.0, 0.04, 100)
    >>> flat, narrow = (posterior_of_lift(one, other, prior) for prior in (Prior(), Prior(0.02)))
    >>> flat.chance_better > narrow.chance_better, flat.expected_loss < 0.001
    (True, True)
    """
    from scipy.special import ndtr, ndtri

    logs = ratio_in_logarithms(run, baseline)
    if isinstance(logs, str):
        return LiftPosterior(math.nan, math.nan, Bounds.none(logs), math.nan, math.nan)
    kept = 1.0 if math.isinf(prior.deviation) else prior.deviation**2 / (prior.deviation**2 + logs.error**2)
    centre, deviation = kept * logs.mean, math.sqrt(kept) * logs.error
    side = -1 if better == "lower" else 1
    at = centre / deviation
    grown = math.exp(min(centre + deviation**2 / 2, 700.0))  # the mean of the ratio
    loss = side * (float(ndtr(-side * at)) - grown * float(ndtr(-side * (at + deviation))))
    reach = float(ndtri((1 + level) / 2)) * deviation
    ends = Bounds(math.expm1(centre - reach), math.expm1(centre + reach), "normal posterior of the logarithm")
    return LiftPosterior(float(ndtr(side * at)), max(loss, 0.0), ends, centre, deviation)
