"""Spaces of parameters, and searches for the best point in them."""

from __future__ import annotations

import math
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, ClassVar

import numpy as np

from rankscope import words
from rankscope.declared import Declared, Param
from rankscope.errors import InputError, MissingExtraError

MOST_POINTS = 10_000
STEPS = 10  # points of a range in a grid
SHARES = 0.1  # steps of weights in a grid
Point = Mapping[str, Any]
EXPECTED = "write values (k=1,10,60), a range (k=1..100, or k=1..100:log) or weights=simplex"


@dataclass(frozen=True)
class ParameterValues:
    """A parameter with listed values."""

    values: tuple[Any, ...]

    def points(self) -> tuple[Any, ...]:
        """Return the values for a grid."""
        return self.values

    def draw(self, random: np.random.Generator) -> Any:
        """Return a random value."""
        return self.values[int(random.integers(len(self.values)))]

    def suggest(self, trial: Any, name: str) -> Any:
        """Ask a trial of optuna for a value."""
        return self.values[trial.suggest_categorical(name, list(range(len(self.values))))]


@dataclass(frozen=True)
class Between:
    """A number from ``low`` to ``high``. ``whole`` numbers only, or on a logarithmic scale with ``log``."""

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def points(self) -> tuple[Any, ...]:
        """Return ten even steps for a grid."""
        even = (np.geomspace if self.log else np.linspace)(self.low, self.high, STEPS)
        return tuple(dict.fromkeys(map(self._typed, even.tolist())))

    def draw(self, random: np.random.Generator) -> Any:
        """Return a random value, uniform on the scale."""
        if self.log:
            return self._typed(math.exp(random.uniform(math.log(self.low), math.log(self.high))))
        return self._typed(random.uniform(self.low, self.high))

    def suggest(self, trial: Any, name: str) -> Any:
        """Ask a trial of optuna for a value."""
        if self.whole:
            return trial.suggest_int(name, int(self.low), int(self.high), log=self.log)
        return trial.suggest_float(name, self.low, self.high, log=self.log)

    def _typed(self, value: float) -> float | int:
        return round(value) if self.whole else float(f"{value:.6g}")


@dataclass(frozen=True)
class Simplex:
    """Weights of several runs that sum to 1."""

    runs: int

    def points(self) -> tuple[Any, ...]:
        """Return all weights in steps of 0.1. Raises InputError if these are too many."""
        parts = round(1 / SHARES)
        if math.comb(parts + self.runs - 1, self.runs - 1) > MOST_POINTS:
            raise InputError(f"weights of {self.runs} runs have too many combinations for a grid: search at random")
        return tuple(tuple(round(part * SHARES, 6) for part in split) for split in _splits(parts, self.runs))

    def draw(self, random: np.random.Generator) -> Any:
        """Return random weights, uniform over all."""
        return tuple(float(f"{share:.4f}") for share in random.dirichlet(np.ones(self.runs)).tolist())

    def suggest(self, trial: Any, name: str) -> Any:
        """Ask a trial of optuna for one number per run, and divide by their sum."""
        parts = [trial.suggest_float(f"{name}_{run}", 0.001, 1.0) for run in range(self.runs)]
        return tuple(float(f"{part / sum(parts):.4f}") for part in parts)


def _splits(parts: int, runs: int) -> Iterator[tuple[int, ...]]:
    if runs == 1:
        yield (parts,)
        return
    for first in range(parts, -1, -1):
        for rest in _splits(parts - first, runs - 1):
            yield (first, *rest)


Space = Mapping[str, ParameterValues | Between | Simplex]


def read_space(given: Mapping[str, Any], runs: int) -> Space:
    """Return a space from values of each parameter: a list, a text like ``1,10,60`` or ``1..100:log``, or ``simplex`` for weights.

    >>> read_space({"k": "1..100:log", "normalise": "min_max,z_score"}, 2)
    {'k': Between(low=1, high=100, log=True, whole=True), 'normalise': ParameterValues(values=('min_max', 'z_score'))}
    """
    return {name: _choice(name, value, runs) for name, value in given.items()}


def _choice(name: str, value: Any, runs: int) -> ParameterValues | Between | Simplex:
    if isinstance(value, ParameterValues | Between | Simplex):
        return value
    if isinstance(value, str):
        if value.strip().casefold() == "simplex":
            return Simplex(runs)
        low, dots, rest = value.partition("..")
        if dots:
            return _between(name, low, *rest.partition(":")[::2])
        value = _listed(value)
    if isinstance(value, str | Mapping) or not hasattr(value, "__iter__") or not (values := tuple(value)):
        raise InputError(f"{name}={value!r}: {EXPECTED}")
    return ParameterValues(values)


def _between(name: str, low: str, high: str, scale: str) -> Between:
    text = f"{low}..{high}" + (f":{scale}" if scale else "")
    with suppress(ValueError, SyntaxError):
        ends = literal_eval(low.strip()), literal_eval(high.strip())
        fits = all(isinstance(end, int | float) and math.isfinite(end) for end in ends)
        if fits and ends[0] < ends[1] and scale in {"", "log"} and (ends[0] > 0 or not scale):
            return Between(*ends, log=bool(scale), whole=all(isinstance(end, int) for end in ends))
    raise InputError(
        f"{name}={text}: a range has a lower and a higher number, above 0 with :log, like {name}=1..100:log"
    )


def _literal(text: str) -> Any:
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _listed(text: str) -> tuple[Any, ...]:
    try:
        values = literal_eval(f"({text},)")
    except (ValueError, SyntaxError):
        return tuple(_literal(part.strip()) for part in text.split(",") if part.strip())
    return values if isinstance(values, tuple) else (values,)


class Search(Declared, kind="search"):
    """Base of searches. ``best`` returns the point with the highest value. Earlier points win ties."""

    source: ClassVar[str] = ""

    def points(self, space: Space, seed: int) -> Sequence[Point]:
        """Return the points to try, the same for every question."""
        raise TypeError(f"{type(self).__name__} has no fixed points")

    def best(self, space: Space, value_of: Callable[[Point], float], seed: int) -> Point:
        """Return the best point. ``value_of`` is -inf for a point that is not allowed."""
        return max(self.points(space, seed), key=value_of)


class grid(Search):
    """All combinations of values. A range has ten even steps, and weights have steps of 0.1.

    >>> [point["k"] for point in grid().points(read_space({"k": "1,10"}, 2), 0)]
    [1, 10]
    """

    def points(self, space: Space, seed: int) -> Sequence[Point]:
        several = [choice.points() for choice in space.values()]
        count = math.prod(map(len, several))
        if count > MOST_POINTS:
            raise InputError(
                f"a grid of {words.count(count)} combinations is above {words.count(MOST_POINTS)}: vary less, or search at random"
            )
        return [dict(zip(space, values, strict=True)) for values in product(*several)]


Trials = Annotated[int, Param("the number of points to try", low=1, high=MOST_POINTS)]


class random(Search):
    """Random points."""

    trials: Trials = 50
    source = "Bergstra and Bengio, Random search for hyper-parameter optimization, JMLR 13, 2012"

    def points(self, space: Space, seed: int) -> Sequence[Point]:
        numbers = np.random.default_rng(seed)
        return [{name: choice.draw(numbers) for name, choice in space.items()} for _ in range(self.trials)]


class bayes(Search):
    """Bayesian search by optuna: each point is chosen by the values of earlier points (TPE)."""

    trials: Trials = 50
    source = (
        "Bergstra et al., Algorithms for hyper-parameter optimization, NeurIPS 2011; Akiba et al., Optuna, KDD 2019"
    )

    def best(self, space: Space, value_of: Callable[[Point], float], seed: int) -> Point:
        try:
            import optuna
        except ImportError:
            raise MissingExtraError("Bayesian search needs optuna: pip install 'rankscope[tune]'") from None
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        tried: list[tuple[float, Point]] = []

        def objective(trial: Any) -> float:
            point = {name: choice.suggest(trial, name) for name, choice in space.items()}
            tried.append((value_of(point), point))
            return tried[-1][0]

        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
        study.optimize(objective, n_trials=self.trials)
        return max(tried, key=lambda pair: pair[0])[1]
