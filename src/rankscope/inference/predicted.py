"""Prediction-powered inference: a small set judged by people corrects a large set judged by a model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rankscope.inference.base import Sample
from rankscope.lists import Array, exact_sum

FEWEST = 3  # queries judged by people, below which nothing can be tuned
CLOSEST = 0.9  # the leverage of a query that is corrected no further


@dataclass(frozen=True, eq=False)
class Predictions:
    """The values of ``people`` and of the model on the same queries (``model``), and of the model on ``others``."""

    people: Array
    model: Array
    others: Array

    def __sub__(self, other: Predictions) -> Predictions:
        """The differences, query by query."""
        return Predictions(self.people - other.people, self.model - other.model, self.others - other.others)


@dataclass(frozen=True, eq=False)
class PowerTuning:
    """The share of the model that minimises the error: 0 ignores the model. ``scale`` corrects residuals, ``freedom`` belongs to the error."""

    share: float
    scale: Array
    freedom: float

    @classmethod
    def of(cls, values: Predictions) -> PowerTuning:
        """Tune the share of the model to these values.

        With n queries judged by people and N others the share is the slope of people's values on the model's, times N / (n + N), within 0 and 1.
        Residuals are jackknife residuals, as the slope follows each query. Degrees of freedom are Satterthwaite's.

        >>> PowerTuning.of(Predictions(np.arange(9.0), np.arange(9.0), np.arange(9.0))).share
        0.5
        """
        n, rest = len(values.people), len(values.others)
        alone = cls(0.0, np.full(n, math.sqrt(n / max(n - 1, 1))), max(n - 1, 0))
        if n < FEWEST or rest < 2:
            return alone
        around = values.model - exact_sum(values.model) / n
        squares = exact_sum(around**2)
        people = values.people - exact_sum(values.people) / n
        if not squares > 0:
            return alone
        share = min(max(exact_sum(around * people) / squares * rest / (n + rest), 0.0), 1.0)
        if not share:
            return alone
        scale = 1 / (1 - np.minimum(1 / n + around**2 / squares, CLOSEST))
        far = values.others - exact_sum(values.others) / rest
        first = exact_sum(((people - share * around) * scale) ** 2) / n**2
        second = share**2 * exact_sum(far**2) / (rest - 1) / rest
        parts = first**2 / (n - 2) + second**2 / (rest - 1)
        return cls(share, scale, (first + second) ** 2 / parts if parts else n - 2)

    def sample(self, values: Predictions) -> Sample:
        """One number per query with the mean of people, corrected by the model, and with its error. People's queries come first.

        The mean is the people's mean plus ``share`` times the model's mean on other queries less its mean on theirs.
        Source: Angelopoulos, Duchi and Zrnic, PPI++: efficient prediction-powered inference, 2023; Oosterhuis et al., Reliable confidence
        intervals for information retrieval evaluation using generative AI, KDD 2024.

        >>> values = Predictions(
        ...     np.array([1.0, 0.0, 1.0, 1.0]), np.array([1.0, 0.0, 0.9, 0.9]), np.array([0.4, 0.8, 0.6, 0.2])
        ... )
        >>> found = PowerTuning.of(values)
        >>> by_hand = 0.75 + found.share * (0.5 - 0.7)
        >>> round(found.sample(values).mean - by_hand, 12)
        0.0
        """
        n, rest = len(values.people), len(values.others) if self.share else 0
        if not n:
            return Sample(np.empty(0))
        residual = values.people - self.share * values.model
        centre = exact_sum(residual) / n
        errors = (residual - centre) * self.scale
        if not rest:  # the factor of the sample itself
            return Sample(centre + errors * math.sqrt((n - 1) / n) if n > 1 else values.people, most=self.freedom)
        mean = exact_sum(values.others) / rest
        away = self.share * (values.others - mean) * math.sqrt(rest / (rest - 1))
        whole = n + rest
        parts = np.concatenate([errors - exact_sum(errors) / n, away]) * math.sqrt((whole - 1) / whole)
        parts *= np.repeat([whole / n, whole / rest], [n, rest])
        return Sample(centre + self.share * mean + parts, most=self.freedom)
