"""Analyse interleaved lists: find the ranker that users prefer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from rankscope.experiments.interleaved import Interleaved
from rankscope.experiments.traffic import decay_of, traffic_of
from rankscope.impressions import attribute_columns
from rankscope.panels.families import Family, compare_within
from rankscope.panels.method import method_of
from rankscope.parallel import map_parts
from rankscope.scoring.logs import TimeOptions, read_log
from rankscope.verbs.interleaving.result import Interleaving


# fmt: off
def interleaving(  # noqa: PLR0913 - the options of the command line, each with its default
    log: Any, *, credit: Any = None, pairs: str = "all", baseline: str | None = None, margin: Any = None, slices: Any = None,
    test: Any = None, interval: Any = None, correction: Any = "holm", alpha: float = 0.05, columns: Mapping[str, str] | str | None = None,
    log_format: str | None = None, time_format: str | None = None, time_zone: str | None = None, start: Any = None, end: Any = None,
) -> Interleaving:
    """Find the ranker that users prefer, from a log of interleaved lists with clicks.

    ``log`` is as for ``read_log``: one row per shown item with its ``team`` (or with what a click earns each ranker, in columns
    ``credit_NAME``), or one row per list with columns ``clicks_NAME``. The preference is the number of lists won less lists lost, out of
    lists with a click. It is above 0 if users prefer the first ranker. Lists of one user are not independent, so the user is the unit.

    - ``credit``: what a click earns a ranker: ``"TeamCredit"``, ``"TeamCredit(dwell=30)"``, ``"TeamCredit(event=conversion)"``, ``"LoggedCredit"`` ...
      Default: the usual credit of the way of mixing that the log records.
    - ``pairs``: ``"competitive"`` compares only pairs of items that the rankers disagree about, for two rankers by team draft.
    - ``baseline``: the ranker that the others are compared with, named last. ``margin``: a preference that would not matter, like 0.02.
    - ``slices``: columns of attributes with at most 30 values each: also compare within each value.
    - ``test``, ``interval``, ``correction``, ``alpha``: as for ``compare``. ``"sign"`` is the binomial test of units that prefer one ranker,
      ``"anytime"`` holds at every look.
    - ``columns``, ``log_format``, ``time_format``, ``time_zone``, ``start``, ``end``: as for ``read_log``.

    The verdict is withheld (``exit_code`` 3) if rankers filled the first place unequally, or if lists on which they agree show a preference.
    Raises InputError for wrong options, DataError for a log without interleaved lists, or with teams that its way of mixing cannot make.

    >>> lists = {"list_id": ["l1", "l1", "l2", "l2"] * 30, "position": [1, 2] * 60, "team": ["a", "b", "b", "a"] * 30, "click": [1, 0, 0, 1] * 30}
    >>> lists["list_id"] = [f"{name}.{row // 4}" for row, name in enumerate(lists["list_id"])]
    >>> found = interleaving(lists)
    >>> found["a", "b", "preference"].difference, found["a", "b", "preference"].verdict
    (1.0, 'better')
    """
    method = replace(method_of(test=test, interval=interval, correction=correction, alpha=alpha, margin=margin), family="all")
    when: TimeOptions = {"time_format": time_format, "time_zone": time_zone, "start": start, "end": end}
    rows = read_log(log, columns=columns, log_format=log_format, **when)
    lists = Interleaved.of(rows, credit, pairs, baseline)
    attributes = attribute_columns(rows, slices)
    tasks: tuple[Callable[[], Any], ...] = (lists.check_method, lambda: lists.units, lambda: decay_of(lists))
    _, units, decay = map_parts(lambda task: task(), tasks)
    panels = [lists.panel(units), *([lists.panel(units, each_unit=True)] if units.unit == "unit_id" else [])]
    families = [Family([panel], lists.pairs, method, lists.rankers[-1] if len(lists.rankers) == 2 else None, lists.validity) for panel in panels]
    families[0].check_margins()
    parts, notes = lists.slices(attributes)
    within = compare_within(parts, replace(families[0], method=replace(method, margin=None))) if parts else []
    return Interleaving(lists, units, families, within, traffic_of(lists, alpha=method.alpha, decay=decay), notes)
# fmt: on
