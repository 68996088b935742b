"""Estimate the examination curve of a log, by several methods side by side, each with intervals and a check that it is identified."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope import words
from rankscope.click_models.bias import BiasEstimator, ShownTraffic
from rankscope.declared import whole_number
from rankscope.errors import DataError, InputError
from rankscope.impressions import slice_names
from rankscope.inference.base import Bounds, check_between
from rankscope.inference.intervals import normal
from rankscope.lists import Array
from rankscope.lists.pages import Pages
from rankscope.logs.pages import ReadPages, read_pages
from rankscope.panels.method import Validity
from rankscope.scoring.logs import TimeOptions, read_log
from rankscope.verbs.position_bias.result import BiasPoint, PositionBias, Used

FEWEST_UNITS = 10  # below which no interval is given
WITHOUT = "without the column p_item_pos, changes of position are taken as random"


def position_bias(  # noqa: PLR0913 - the options of the command line, each with its default
    log: Any, method: Any = None, *, slices: Any = None, depth: int | None = None, level: float = 0.95, rounds: int | None = None,
    seed: int = 0, columns: Mapping[str, str] | str | None = None, log_format: str | None = None, time_format: str | None = None,
    time_zone: str | None = None, start: Any = None, end: Any = None,
) -> PositionBias:  # fmt: skip
    """Estimate how probable it is that users look at each position, relative to position 1, from clicks in a log.

    ``log`` is as for ``read_log``: one row per shown item, with ``impression_id``, ``item_id``, ``position`` and ``click``. ``method`` is one
    or several of ``randomised``, ``swaps``, ``harvesting``, ``regression_em`` and ``trust``, by default all that the log identifies. Each needs
    the same items at different positions; ``harvesting`` needs two or more rankers (``logger_id``). ``slices`` names columns, like a
    device: the curve is estimated for each value. ``depth`` leaves out positions below it. Intervals are from a bootstrap of ``rounds`` resamples of
    users (or sessions, or lists, if the log names no users), which ``seed`` fixes.

    If nothing is identified, ``exit_code`` is 4 and ``validity.reason`` says why. Raises InputError for an unknown method, DataError
    for a log without lists, positions or clicks.

    >>> import rankscope as rs
    >>> log = rs.simulate("log", users=800, items=5, policy="SwapFirst(top=5)", seed=1).log
    >>> found = rs.position_bias(log, "swaps")
    >>> [round(point.value, 1) for point in found.points], found.validity.holds
    ([1.0, 0.5, 0.4, 0.3, 0.2], True)
    """
    check_between("level", level, 0.95)
    for name, value in (("depth", depth), ("rounds", rounds)):
        if value is not None:
            whole_number(name, value, 2, f"{name} is a whole number of 2 or more")
    chosen = _methods(method)
    when: TimeOptions = {"time_format": time_format, "time_zone": time_zone, "start": start, "end": end}
    read = read_log(log, columns=columns, log_format=log_format, **when)
    whole = read_pages(read, depth=depth)
    _refuse_few(read.label, whole.pages)
    points, checks, used = curves(chosen, whole.pages, level, rounds, seed)
    sliced = [
        point
        for name in slice_names(read, slices)
        for point in _slices(chosen, read_pages(read, depth=depth, by=name), name, checks, level, rounds, seed)
    ]
    remarks = [*whole.remarks, *_remarks(checks, whole.pages)]
    return PositionBias(points, sliced, checks, read.source, len(whole.pages), whole.unit, level, tuple(remarks), used)


def _methods(methods: Any) -> list[BiasEstimator]:
    if methods is None:
        return [cls() for cls in dict.fromkeys(BiasEstimator.catalogue.values())]
    if not (chosen := dict.fromkeys(BiasEstimator.read_all(methods))):
        raise InputError("method: name one, like swaps")
    return list(chosen)


def _refuse_few(label: str, pages: Pages) -> None:
    if len(pages) < 2:
        raise DataError(f"{label}: there is one list, and position bias needs the clicks of many")
    if pages.places < 2:
        raise DataError(f"{label}: every list has one position, so positions have nothing to be compared with")


def _remarks(checks: Mapping[str, Validity], pages: Pages) -> Iterator[str]:
    if pages.chance is None and any(one.holds and not name.startswith("harvesting") for name, one in checks.items()):
        yield WITHOUT


def curves(
    methods: Sequence[BiasEstimator], pages: Pages, level: float, rounds: int | None, seed: int, attribute: str = "", part: str = ""
) -> tuple[list[BiasPoint], dict[str, Validity], list[Used]]:  # fmt: skip
    """The points of each method that is identified, the check of each, and the clicks behind the points."""
    traffic = ShownTraffic.of(pages)
    views, clicks = traffic.sums(), traffic.sums(traffic.clicked)
    points, checks, behind = list[BiasPoint](), dict[str, Validity](), list[Used]()
    for one in methods:
        used = one.use(traffic)
        checks[str(one)] = validity = one.validity(used)
        if not validity.holds:
            continue
        curve = one.curve(used)
        behind.append(Used(str(one), one.about, len(np.unique(used.pair)), len(used.pair), int(used.clicked.sum())))
        reached = _bounds(one, used, curve.alpha, level, rounds or one.rounds, seed)
        betas = [None] * traffic.places if curve.beta is None else curve.beta.tolist()
        each = zip(
            curve.alpha.tolist(), reached, betas, views.astype(int).tolist(), clicks.astype(int).tolist(), strict=True
        )
        points += [
            BiasPoint(str(one), place, value, *interval, beta, shown, clicked, attribute, part)
            for place, (value, interval, beta, shown, clicked) in enumerate(each, start=1)
        ]
    return points, checks, behind


def _bounds(
    one: BiasEstimator, used: ShownTraffic, alpha: Array, level: float, rounds: int, seed: int
) -> list[tuple[Bounds, float]]:
    """The interval and the standard error of each place: a bootstrap over units, normal on the scale of the logarithm if all are above 0."""
    known = np.unique(used.unit)
    if len(known) < FEWEST_UNITS:
        return [(Bounds.none(f"{words.counted(len(known), 'unit')} are too few to resample"), math.nan)] * len(alpha)
    used = replace(used, unit=np.searchsorted(known, used.unit))
    draws = np.random.default_rng(seed)
    curves = np.array([one.curve(used.resampled(draws.poisson(1.0, len(known)))).alpha for _ in range(rounds)])
    reach, out = normal((1 - level) / 2), [(Bounds.none("position 1 is the reference"), 0.0)]
    for value, resampled in zip(alpha[1:], curves.T[1:], strict=True):
        drawn = resampled[~np.isnan(resampled)]
        if np.isnan(value) or len(drawn) < rounds / 2:
            out.append((Bounds.none("the position is not identified"), math.nan))
            continue
        if not (error := float(drawn.std(ddof=1))):
            out.append((Bounds.none("no item was clicked at the position"), math.nan))
            continue
        low, high = max(value - reach * error, 0.0), value + reach * error
        if (drawn > 0).all() and value > 0:
            low, high = (value * np.exp(sign * reach * float(np.log(drawn).std(ddof=1))) for sign in (-1, 1))
        out.append((Bounds(low, high, "bootstrap"), error))
    return out


def _slices(
    methods: Sequence[BiasEstimator], read: ReadPages, name: str, checks: Mapping[str, Validity], level: float, rounds: int | None, seed: int
) -> Iterator[BiasPoint]:  # fmt: skip
    """The points of each value of a column, by the methods that the whole log identifies."""
    assert read.pages.part is not None
    known = [one for one in methods if checks[str(one)].holds]
    for number, value in enumerate(read.parts):
        pages = read.pages.where(read.pages.part == number)
        if len(pages) > 1:
            yield from curves(known, pages, level, rounds, seed, attribute=name, part=value)[0]
