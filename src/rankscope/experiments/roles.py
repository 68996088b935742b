"""What a call of ``experiment`` asks for: each metric's part in the verdict, and the difference in it that would not matter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from rankscope import words
from rankscope.errors import InputError
from rankscope.impressions import Log
from rankscope.logs.base import OnlineMetric, parse_online, parse_online_metrics
from rankscope.logs.metrics import require_deciding, require_direction
from rankscope.panels.method import Margin, read_margin, split_margin


@dataclass(frozen=True)
class Role:
    """A metric's part in the verdict, and the ``margin``: how large a difference would not matter, or a loss that would be accepted."""

    part: Literal["primary", "secondary", "guardrail"] = "secondary"
    margin: Margin | None = None


def roles_of(log: Log, metrics: Any, primary: Any, guardrails: Any, margin: Any) -> dict[OnlineMetric, Role]:
    """Every metric with its part in the verdict, the primary one first. Raises InputError for what cannot be used."""
    first = [] if primary is None else parse_online_metrics(primary)
    if len(first) > 1:
        raise InputError(f"primary={primary!r}: one metric decides; name the others with -m")
    others = parse_online_metrics(metrics) if metrics is not None else [] if first else require_deciding(log)
    guards = guardrails_of(guardrails, [*first, *others[: not first]])
    out: dict[OnlineMetric, Role] = {metric: Role() for metric in [*first, *others] if metric not in guards}
    if not out:
        raise InputError("guardrails do not decide: name the metric that does with --primary")
    for metric in guards:
        require_direction(log, metric)
    lead = next(iter(out))
    guarded = {metric: Role("guardrail", accepted) for metric, accepted in guards.items()}
    return _with_margins({**out, lead: Role("primary"), **guarded}, margin)


def guardrails_of(source: Any, deciding: Sequence[OnlineMetric]) -> dict[OnlineMetric, Margin | None]:
    """Read guardrails with the loss that would be accepted, if any: ``METRIC``, ``METRIC=0.01`` or ``METRIC=1%`` of the baseline.

    Raises InputError for a metric that decides as well.
    """
    several = source.items() if isinstance(source, Mapping) else [source] if isinstance(source, str) else source or ()
    out: dict[OnlineMetric, Margin | None] = {}
    for name, loss in map(split_margin, several):
        (metric,) = parse_online_metrics(name)
        what = f"guardrail {metric}={loss}", "the loss that would be accepted"
        out[metric] = None if loss is None else read_margin(loss, *what)
        if metric in deciding:
            raise InputError(f"{metric} decides, and is a guardrail: name it as one of the two")
    return out


# --- margins ------------------------------------------------------------------------------------------------------


def _with_margins(roles: Mapping[OnlineMetric, Role], margin: Any) -> dict[OnlineMetric, Role]:
    """The roles with margins: one for all metrics that have none, or one for each that is named."""
    by_metric = _margins(margin)
    everywhere = by_metric.pop(None, None)
    out = dict(roles)
    for metric, allowance in by_metric.items():
        if metric not in out:
            raise InputError(f"margin of {metric}: it is not compared; there are {words.listing(out)}")
        assert metric is not None
        if out[metric].margin is not None:
            raise InputError(f"{metric} has two margins, as a guardrail and by --margin: give it one")
        out[metric] = replace(out[metric], margin=allowance)
    if everywhere is None:
        return out
    return {m: role if role.margin is not None else replace(role, margin=everywhere) for m, role in out.items()}


def _margins(margins: Any) -> dict[OnlineMetric | None, Margin]:
    """Margins by metric; by None the one that names no metric."""
    if margins is None:
        return {}
    parts: Iterable[Any] = (
        margins.items() if isinstance(margins, Mapping) else margins if isinstance(margins, list | tuple) else [margins]
    )
    out: dict[OnlineMetric | None, Margin] = {}
    for one in parts:
        name, _, value = one.rpartition("=") if isinstance(one, str) else ("", "", one)
        if isinstance(margins, Mapping):
            name, value = one
        metric = parse_online(name) if name else None
        what = f"margin of {metric}: {value}" if metric is not None else f"margin {value}"
        if metric in out:
            raise InputError(f"{'margin' if metric is None else f'margin of {metric}'} is given twice: give one")
        out[metric] = read_margin(value, what)
    return out
