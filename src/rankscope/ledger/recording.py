"""Launches from the results of everything that compares systems: comparisons, experiments, estimates, interleavings."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from datetime import date

import numpy as np

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.ledger.launch import Launch, Measurement, Side, hash_of
from rankscope.lists import Array
from rankscope.panels.contrast import Contrast
from rankscope.panels.contrast_result import ContrastResult
from rankscope.panels.panel import PairedValues

SIGNS = 64  # numbers of a sketch
AT_ONCE = 10_000  # units whose signs are held at once


def launches_of(
    result: ContrastResult, name: str | None = None, *, side: Side | None = None, day: date | None = None, launched: bool | None = None,
) -> list[Launch]:  # fmt: skip
    """Return one launch per candidate of a result, named after the candidate or ``name``, with its differences and their errors.

    ``side`` is ``offline`` for means over queries and ``online`` otherwise. Raises DataError if the verdict is withheld or a
    difference has no standard error, InputError for a ``name`` with several candidates and for comparisons without one baseline.
    """
    if not isinstance(result, ContrastResult):
        raise InputError(f"a {type(result).__name__} is not recorded: give the result of compare or experiment")
    if not result.validity.holds:
        raise DataError(f"nothing was recorded, as the verdict is withheld: {result.validity.reason}")
    by_pair: dict[tuple[str, str], list[Contrast]] = {}
    for c in result.contrasts:
        by_pair.setdefault((c.run, c.baseline), []).append(c)
    if len({baseline for _, baseline in by_pair}) > 1:
        raise InputError(
            "several baselines: a launch has one baseline, so record one comparison with a baseline at a time"
        )
    if name is not None and len(by_pair) > 1:
        raise InputError(
            f"--launch {name}: there are {words.counted(len(by_pair), 'candidate')}, so leave it out (each is a launch of its own name), or record one"
        )
    out = []
    for (run, baseline), several in by_pair.items():
        measured = tuple(_measured(result, c, several, side) for c in several if math.isfinite(c.difference))
        if not measured:
            raise DataError(f"{run} against {baseline}: no metric has a difference, so nothing was recorded")
        out.append(Launch(name or run, baseline, run, day or date.today(), launched, measurements=measured))
    return out


def _measured(result: ContrastResult, c: Contrast, several: Sequence[Contrast], side: Side | None) -> Measurement:
    error = float(c.pair.means.error)
    if not math.isfinite(error):
        raise DataError(f"{c.title}: the standard error of the difference is unknown, so nothing was recorded")
    values, better = _residuals(c), "lower" if c.panel.better == "lower" else "higher"
    found: Side = side or ("offline" if c.panel.measure.unit == "query" else "online")
    shares = result.error_shares(c)
    if found == "offline" and values is not None:
        shares = [u for u, there in zip(c.panel.units, c.paired.inside, strict=True) if there], values
    return Measurement(
        found, c.metric, float(c.difference), error, better,
        float(c.baseline_value) if math.isfinite(c.baseline_value) else None, int(c.queries), c.verdict,
        hash_of(result.changing), result.judgments_sha256 or "", _covariances(c, several),
        () if shares is None else _sketch(*shares),
    )  # fmt: skip


def _residuals(c: Contrast) -> Array | None:
    """Return the share of each query in the error of the difference; the sum of squares is its variance. None without units."""
    pair = c.pair
    if not isinstance(pair, PairedValues) or pair.predicted or c.panel.clusters is not None or pair.means.count < 2:
        return None
    values = pair.means.values
    found: Array = (values - values.mean()) / math.sqrt(len(values) * (len(values) - 1))
    return found


def _covariances(c: Contrast, several: Sequence[Contrast]) -> dict[str, float]:
    """Return the covariances with the errors of metrics on the same queries."""
    if (own := _residuals(c)) is None:
        return {}
    others = ((o, _residuals(o)) for o in several if o is not c)
    alike = (
        (o, errors) for o, errors in others if errors is not None and np.array_equal(c.paired.inside, o.paired.inside)
    )
    return {o.metric: float(own @ errors) for o, errors in alike}


def _sketch(units: Sequence[str], values: Array) -> tuple[float, ...]:
    """Return a random projection of the errors of units, with the same signs for the same ids in all launches.

    Source: Achlioptas, Database-friendly random projections, 2003.
    """
    total = np.zeros(SIGNS)
    for start in range(0, len(units), AT_ONCE):
        some = units[start : start + AT_ONCE]
        hashed = b"".join(hashlib.blake2b(unit.encode(), digest_size=SIGNS // 8).digest() for unit in some)
        bits = np.unpackbits(np.frombuffer(hashed, np.uint8)).reshape(len(some), SIGNS)
        total += values[start : start + AT_ONCE] @ (2.0 * bits - 1.0)
    return tuple((total / math.sqrt(SIGNS)).tolist())


def shared_covariance(measurements: Sequence[Measurement]) -> float:
    """Return the mean covariance of two errors of different launches, by their sketches; 0 if unknown.

    Sketches are of the same queries if judgments are the same, and of the same users if units and conventions are.
    """
    by: dict[str, list[Array]] = {}
    for m in measurements:
        if m.sketch and (m.judgments or m.conventions):
            by.setdefault(m.judgments or m.conventions, []).append(np.array(m.sketch))
    total = sum(float(np.sum(np.sum(group, axis=0) ** 2) - np.sum(np.square(group))) for group in by.values())
    count = len(measurements)
    return total / (count * (count - 1)) if count > 1 else 0.0
