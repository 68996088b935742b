"""Plan an evaluation: what the queries at hand can show, and how many it takes to show more."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, overload

from rankscope.blocks import Caution
from rankscope.errors import DataError, InputError
from rankscope.panels.families import baseline_of, pairs_of
from rankscope.panels.method import FEWEST
from rankscope.panels.reach import Aim, Overall, Reach, overall, reach_by, reach_of
from rankscope.scoring.measurements import Measurements, measure
from rankscope.show.notebook import InNotebook

if TYPE_CHECKING:
    import polars as pl

    from rankscope.verbs.power.topics import Design

USUAL = (0.01, 0.02, 0.05)  # differences that people ask for, on metrics from 0 to 1


@dataclass(frozen=True, eq=False)
class Plan(InNotebook):
    """What ``power`` found.

    ``plan["dense", "nDCG@10"]`` is what the queries can show about a run against the baseline (with all pairs, say both runs),
    and so is ``plan["nDCG@10"]`` where there are two runs. ``summary`` holds each metric over all pairs. ``results`` is a Polars
    frame with a row a wanted difference; ``str(plan)`` says it in words.
    """

    shown_by: ClassVar[str] = "rankscope.verbs.power.result"

    reaches: Sequence[Reach]
    aim: Aim
    given: Measurements | None = None
    baseline: str | None = None

    @property
    def notes(self) -> Sequence[str]:
        """What was read, and what was passed over."""
        return self.given.notes if self.given else ()

    @property
    def metrics(self) -> list[str]:
        """The metrics, the first one asked for first."""
        return [field.name for field in self.given.fields] if self.given else []

    def of(self, metric: str) -> list[Reach]:
        """All pairs on one metric."""
        return [reach for reach in self.reaches if reach.metric == metric]

    @cached_property
    def summary(self) -> list[Overall]:
        """Each metric over all pairs: collections are designed for more than one pair."""
        found = (overall(field, self.of(field.name)) for field in (self.given.fields if self.given else ()))
        return [one for one in found if one is not None]

    @cached_property
    def warnings(self) -> list[Caution]:
        """What to doubt: of the data, then of the plan."""
        said = self.given.scores.warnings if self.given and self.given.scores is not None else []
        return [*said, *(warned for reach in self.reaches for warned in _doubts(reach))]

    def __getitem__(self, key: Any) -> Reach:
        *runs, metric = key if isinstance(key, tuple) else (key,)
        found = [r for r in self.of(str(metric)) if tuple(runs) in {(), (r.run,), (r.run, r.baseline)}]
        if len(found) != 1:
            pairs = ", ".join(f"{r.run}, {r.baseline}, {r.metric}" for r in self.reaches[:5])
            raise KeyError(f"say which runs and which metric, like plan['run', 'metric']: there are {pairs}")
        return found[0]

    @cached_property
    def results(self) -> pl.DataFrame:
        """One row a wanted difference, with the columns that the command line writes as CSV."""
        import polars as pl

        from rankscope.verbs.power.records import records

        return pl.DataFrame(list(records(self)), infer_schema_length=None)

    def __str__(self) -> str:
        from rankscope.verbs.power.result import sentence

        return sentence(self)

    __repr__ = __str__


def _doubts(reach: Reach) -> list[Caution]:
    if reach.reason:
        return [Caution("RS408", reach.reason, "leave the pair out of the plan, or judge more queries")]
    if 0 < reach.differing < FEWEST:
        return [
            Caution(
                "RS405",
                f"{reach.run} and {reach.baseline} differ on {reach.differing} of {reach.queries:,} queries on {reach.metric}; "
                f"fewer than {FEWEST} say little about how differences vary",
                "take the numbers as rough, or plan by runs that differ more",
            )
        ]
    return []


# fmt: off
@overload
def power(*, design: str, **options: Any) -> Design: ...
@overload
def power(qrels: Any = None, runs: Any = None, metrics: Any = None, *, design: None = None, **options: Any) -> Plan: ...
def power(  # noqa: PLR0913 - the options of the command line, each with its default
    qrels: Any = None, runs: Any = None, metrics: Any = None, *,
    difference: Any = None, power: float = 0.8, alpha: float = 0.05, comparisons: int = 1, n: int | None = None,
    baseline: str | None = None, all_pairs: bool = False, clusters: Any = None, systems: Any = None,
    deviation: float | None = None, design: str | None = None, variance: float | None = None, width: Any = None,
    progress: Callable[[str], None] | None = None, **policies: Any,
) -> Plan | Design:
    """Say what difference the queries at hand can show, and how many queries other differences need.

    ``qrels``, ``runs`` and ``metrics`` are as for ``compare`` (without ``runs``, the first is a table of scores or what ``evaluate``
    found), and so are ``baseline``, ``all_pairs``, ``clusters``, ``systems`` and the ``policies``. ``difference`` is one that you
    want to be able to show, or several (0.01, 0.02, 0.05 and the observed one unless said). ``power`` is the chance to find it if it
    is true, ``alpha`` that of a false difference over all ``comparisons`` (1): each gets alpha / comparisons. ``n`` plans for so many
    queries instead of those at hand.

    Without runs, ``deviation`` is the standard deviation of the differences, known from elsewhere. ``design`` says how many topics a
    collection needs: "t" and "anova" for a ``difference``, "interval" for a ``width``, from a ``variance`` (and ``systems``, how many).

    Raises InputError for what cannot be used, DataError where nothing can be planned from the queries.

    >>> import rankscope as rs
    >>> rs.power(deviation=0.2, difference=0.05).reaches[0].wanted[0].queries
    128
    >>> rs.power(design="t", variance=0.04, difference=0.1).sizes
    ((0.1, 34),)
    """
    aim = Aim(power, alpha, comparisons, n)
    _check(aim)
    given = qrels is not None or runs is not None
    _refuse_mixed(given, deviation, design, {"variance": variance, "width": width})
    if design is not None:
        from rankscope.verbs.power.topics import designed

        _refuse(design, {"n": n, "baseline": baseline, "all_pairs": all_pairs or None, "clusters": clusters, "metrics": metrics})
        return designed(design, variance, _sizes("difference", difference), _sizes("width", width), systems, aim)
    sizes = _sizes("difference", difference)
    if not given:
        asked = {"baseline": baseline, "all_pairs": all_pairs or None, "clusters": clusters, "systems": systems, "metrics": metrics}
        _refuse("deviation", asked, option=True)
        return Plan([reach_by(_deviation(deviation), aim, sizes or USUAL)], aim)
    if isinstance(systems, int):
        raise InputError(f"systems={systems}: how many systems there are is for design='anova'; runs are counted")
    found = measure(qrels, runs, metrics, clusters=clusters, systems=systems, progress=progress, **policies)
    return _of_runs(found, aim, sizes, baseline, all_pairs)
# fmt: on


def _of_runs(
    given: Measurements, aim: Aim, sizes: Sequence[float], baseline: str | None, all_pairs: bool
) -> Plan:

    if all_pairs and baseline is not None:
        raise InputError(f"baseline {baseline!r} and all pairs: ask for one of them")
    chosen = baseline_of(baseline, given.fields[0].systems)
    for field in given.fields:
        if field.reason:
            raise InputError(
                f"{field.name} is {field.reason}, which more queries make larger: leave it out of the plan"
            )
    _refuse_impossible(given, sizes)
    pairs = pairs_of(given.fields[0].systems, chosen, all_pairs)
    reaches = [
        reach_of(field, pair, aim, sizes or USUAL, observed=not sizes)
        for field in given.fields
        for pair in pairs
    ]
    if all(reach.reason for reach in reaches):
        raise DataError(reaches[0].reason)
    return Plan(reaches, aim, given, None if all_pairs else chosen)


def _refuse_impossible(given: Measurements, sizes: Sequence[float]) -> None:
    """A difference larger than the range of every metric is a slip: percent for parts of 1."""
    widest = max(given.fields, key=lambda field: field.bounds[1] - field.bounds[0])
    low, high = widest.bounds
    for size in sizes:
        if size > high - low:
            raise InputError(
                f"difference={size:g}: {widest.name} lies between {low:g} and {high:g}, so no two runs are so far apart; "
                "write 0.05 for five hundredths"
            )


def _check(aim: Aim) -> None:
    if not _number(aim.alpha) or not 0 < aim.alpha < 0.5:
        raise InputError(f"alpha={aim.alpha!r}: alpha is a share above 0 and below 0.5, like 0.05")
    if not _number(aim.power) or not aim.alpha < aim.power < 1:
        raise InputError(f"power={aim.power!r}: power is a share above alpha and below 1, like 0.8")
    for name, value, least in (("comparisons", aim.comparisons, 1), ("n", aim.n, 2)):
        if value is not None and (
            isinstance(value, bool) or not hasattr(value, "__index__") or value < least
        ):
            raise InputError(f"{name}={value!r}: {name} is a whole number of at least {least}")


def _sizes(name: str, given: Any) -> tuple[float, ...]:
    """Differences or widths, each once, the smallest first; none where none was said."""
    several = hasattr(given, "__iter__") and not isinstance(given, str)
    values = () if given is None else tuple(given) if several else (given,)
    for value in values:
        if not _number(value) or not 0 < value < math.inf:
            raise InputError(f"{name}={value!r}: a {name} is a number above 0, like 0.02")
    return tuple(sorted({float(value) for value in values}))


def _deviation(value: Any) -> float:
    if not _number(value) or not 0 < value < math.inf:
        raise InputError(
            f"deviation={value!r}: the standard deviation of differences is a number above 0, like 0.2"
        )
    return float(value)


def _number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool) and not math.isnan(value)


def _refuse_mixed(given: bool, deviation: float | None, design: str | None, parts: Mapping[str, Any]) -> None:
    """One line where what was given belongs to several ways of planning, or to none."""
    ways = {"runs": given, "deviation": deviation is not None, "design": design is not None}
    chosen = [name for name, there in ways.items() if there]
    if len(chosen) > 1:
        raise InputError(
            f"{chosen[0]} and {chosen[1]}: plan from runs, from a deviation or by a design, one at a time"
        )
    if not design and (extra := next((name for name, value in parts.items() if value is not None), "")):
        raise InputError(f"{extra} belongs to a design: name one, t, anova or interval")
    if not chosen:
        raise InputError(
            "nothing to plan from: give judgments and two runs, or a deviation of differences, or a design"
        )


def _refuse(way: str, extra: Mapping[str, Any], option: bool = False) -> None:
    for name, value in extra.items():
        if value is not None:
            said = way if option else f"design {way!r}"
            raise InputError(
                f"{name} belongs to a plan from runs{' or a deviation' if name == 'n' else ''}: leave it out beside {said}"
            )
