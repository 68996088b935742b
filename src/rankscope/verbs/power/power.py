"""Plan an evaluation: what the queries at hand can detect, and how many it takes to detect more."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from rankscope.errors import DataError, InputError
from rankscope.panels.families import baseline_of, pairs_of
from rankscope.panels.reach import Aim, reach_by, reach_of
from rankscope.scoring.measurements import Measurements, measure
from rankscope.verbs.power.result import Design, Plan

USUAL = (0.01, 0.02, 0.05)  # differences that people ask for, on metrics from 0 to 1


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
    """What difference the queries at hand can detect, and how many queries other differences need.

    From runs: ``qrels``, ``runs`` and ``metrics`` are as for ``compare`` (without ``runs``, the first is a table of scores or a
    result of ``evaluate``), and so are ``baseline``, ``all_pairs``, ``clusters``, ``systems`` and the ``policies``.

    ``difference``: one that you want to be able to detect, or several. Default: 0.01, 0.02, 0.05 and the observed one.
    ``power``: the chance to detect it if it is there.
    ``alpha``: the chance of a false difference over all ``comparisons``, of which each gets alpha / comparisons.
    ``n``: plan for so many queries instead of those at hand.

    Without runs: ``deviation`` is the standard deviation of the differences, known from elsewhere. ``design`` plans the topics of a
    collection: "t" and "anova" for a ``difference``, "interval" for a ``width``, from a ``variance`` (and ``systems``, how many).

    Raises InputError for what cannot be used, DataError where nothing can be planned from the queries.

    >>> import rankscope as rs
    >>> rs.power(deviation=0.2, difference=0.05).reaches[0].targets[0].queries
    128
    >>> rs.power(design="t", variance=0.04, difference=0.1).sizes
    ((0.1, 34),)
    """
    aim = Aim(power, alpha, comparisons, n)
    _check(aim)
    from_runs = qrels is not None or runs is not None
    _refuse_mixed(from_runs, deviation, design, {"variance": variance, "width": width})
    if design is not None:
        from rankscope.verbs.power.topics import design_of

        _refuse(design, {"n": n, "baseline": baseline, "all_pairs": all_pairs or None, "clusters": clusters, "metrics": metrics})
        return design_of(design, variance, _sizes("difference", difference), _sizes("width", width), systems, aim)
    sizes = _sizes("difference", difference)
    if not from_runs:
        extra = {"baseline": baseline, "all_pairs": all_pairs or None, "clusters": clusters, "systems": systems, "metrics": metrics}
        _refuse("deviation", extra, option=True)
        return Plan([reach_by(_deviation(deviation), aim, sizes or USUAL)], aim)
    if isinstance(systems, int):
        raise InputError(f"systems={systems}: a number of systems is for design='anova'; runs are counted")
    measured = measure(qrels, runs, metrics, clusters=clusters, systems=systems, progress=progress, **policies)
    return _plan_of(measured, aim, sizes, baseline, all_pairs)
# fmt: on


def _plan_of(measured: Measurements, aim: Aim, sizes: Sequence[float], baseline: str | None, all_pairs: bool) -> Plan:
    if all_pairs and baseline is not None:
        raise InputError(f"baseline {baseline!r} and all pairs: ask for one of them")
    panels = measured.panels
    against = baseline_of(baseline, panels[0].systems)
    for panel in panels:
        if panel.reason:
            raise InputError(
                f"{panel.name} is {panel.reason}, which more queries make larger: leave it out of the plan"
            )
    _refuse_impossible(measured, sizes)
    pairs = pairs_of(panels[0].systems, against, all_pairs)
    targets = sizes or USUAL
    reaches = [reach_of(panel, pair, aim, targets, observed=not sizes) for panel in panels for pair in pairs]
    if all(reach.reason for reach in reaches):
        raise DataError(reaches[0].reason)
    return Plan(reaches, aim, measured, None if all_pairs else against)


def _refuse_impossible(measured: Measurements, sizes: Sequence[float]) -> None:
    """A difference larger than the range of every metric is a slip: percent for parts of 1."""
    widest = max(measured.panels, key=lambda panel: panel.bounds[1] - panel.bounds[0])
    low, high = widest.bounds
    for size in sizes:
        if size > high - low:
            raise InputError(
                f"difference={size:g}: {widest.name} lies between {low:g} and {high:g}, so no two runs are that far apart; "
                "write 0.05 for five hundredths"
            )


def _check(aim: Aim) -> None:
    if not _number(aim.alpha) or not 0 < aim.alpha < 0.5:
        raise InputError(f"alpha={aim.alpha!r}: alpha is a share above 0 and below 0.5, like 0.05")
    if not _number(aim.power) or not aim.alpha < aim.power < 1:
        raise InputError(f"power={aim.power!r}: power is a share above alpha and below 1, like 0.8")
    for name, value, least in (("comparisons", aim.comparisons, 1), ("n", aim.n, 2)):
        if value is not None and (isinstance(value, bool) or not hasattr(value, "__index__") or value < least):
            raise InputError(f"{name}={value!r}: {name} is a whole number of at least {least}")


def _sizes(name: str, values: Any) -> tuple[float, ...]:
    """Differences or widths, each once, the smallest first."""
    several = hasattr(values, "__iter__") and not isinstance(values, str)
    sizes = () if values is None else tuple(values) if several else (values,)
    for value in sizes:
        if not _number(value) or not 0 < value < math.inf:
            raise InputError(f"{name}={value!r}: a {name} is a number above 0, like 0.02")
    return tuple(sorted({float(value) for value in sizes}))


def _deviation(value: Any) -> float:
    if not _number(value) or not 0 < value < math.inf:
        raise InputError(f"deviation={value!r}: the standard deviation of differences is a number above 0, like 0.2")
    return float(value)


def _number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool) and not math.isnan(value)


def _refuse_mixed(runs: bool, deviation: float | None, design: str | None, parts: Mapping[str, Any]) -> None:
    """One line where the options belong to several ways of planning, or to none."""
    ways = {"runs": runs, "deviation": deviation is not None, "design": design is not None}
    chosen = [name for name, there in ways.items() if there]
    if len(chosen) > 1:
        raise InputError(f"{chosen[0]} and {chosen[1]}: plan from runs, from a deviation or by a design, one at a time")
    if not design and (extra := next((name for name, value in parts.items() if value is not None), "")):
        raise InputError(f"{extra} belongs to a design: name one, t, anova or interval")
    if not chosen:
        raise InputError(
            "nothing to plan from: give judgments and two runs, or a deviation of differences, or a design"
        )


def _refuse(way: str, extra: Mapping[str, Any], option: bool = False) -> None:
    for name, value in extra.items():
        if value is not None:
            source = "runs or a deviation" if name == "n" else "runs"
            beside = way if option else f"design {way!r}"
            raise InputError(f"{name} belongs to a plan from {source}: leave it out beside {beside}")
