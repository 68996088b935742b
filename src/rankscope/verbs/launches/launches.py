"""Record launches in a ledger, and find out which offline metric predicts which online one.

>>> import tempfile, pathlib
>>> import rankscope as rs
>>> ledger = pathlib.Path(tempfile.mkdtemp()) / "launches.db"
>>> made = rs.launches.add(
...     "new ranker", ledger=ledger, offline={"nDCG@10": (0.012, 0.004)}, online={"CTR": (0.003, 0.001)}
... )
>>> [m.metric for m in rs.launches.list(ledger=ledger).launches[0].measurements]
['nDCG@10', 'CTR']
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankscope import words
from rankscope.errors import InputError
from rankscope.ledger.analysis import relations_of
from rankscope.ledger.launch import Launch, Measurement, Side, day_of, hash_of
from rankscope.ledger.recording import launches_from, launches_of, number_of
from rankscope.panels.contrast_result import ContrastResult
from rankscope.verbs.launches.result import LaunchCorrelations, LaunchList, LaunchPrediction
from rankscope.words import in_caller_syntax

if TYPE_CHECKING:
    from rankscope.ledger.store import Ledger

DEFAULT, VARIABLE = "launches.db", "RANKSCOPE_LEDGER"


def open_ledger(ledger: Any = None, *, make: bool = True) -> Ledger:
    """Open a ledger: a path of a SQLite file, an address of PostgreSQL, or by default $RANKSCOPE_LEDGER or ``launches.db``.

    Needs the extra ``rankscope[ledger]``. Raises InputError if it cannot be opened, or if it is missing and ``make`` is false.
    """
    from rankscope.ledger.store import Ledger

    return ledger if isinstance(ledger, Ledger) else Ledger(ledger or os.environ.get(VARIABLE) or DEFAULT, make=make)


def record(
    result: ContrastResult, ledger: Any = None, *, launch: str | None = None, side: Side | None = None, day: Any = None,
    launched: bool | None = None,
) -> LaunchList:  # fmt: skip
    """Write the differences of a comparison or an experiment to a ledger, one launch per candidate, and return the written launches.

    ``launch`` names the launch, so that a comparison and an experiment with other names fill one. By default it is named after the candidate.
    A later result on the same metric and conventions replaces an earlier one. ``day`` is today by default. Raises DataError if the verdict is withheld.
    """
    made = launches_of(result, launch, side=side, day=day_of(day), launched=launched)
    store = open_ledger(ledger)
    known = {one.name: one.day for one in store.launches()} if day is None else {}
    made = [replace(one, day=known[one.name]) if known.get(one.name) else one for one in made]
    store.add(made, {hash_of(result.changing): result.changing} if result.changing else None)
    return LaunchList(store.label, made, written=True)


def add(  # noqa: PLR0913 - one keyword per option
    name: str, *, ledger: Any = None, offline: Any = None, online: Any = None, baseline: str = "", candidate: str = "",
    day: Any = None, launched: bool | None = None, notes: str = "", tags: Iterable[str] = (),
) -> LaunchList:  # fmt: skip
    """Add a launch to a ledger, or complete one, and return it.

    ``offline`` and ``online`` map metrics to (difference, standard error), like ``{"nDCG@10": (0.012, 0.004)}``. ``launched`` is False for a
    rejected candidate. Facts and differences that are given replace those of a launch of this name. Raises InputError for values that cannot be used.
    """
    offline, online = read_differences("offline", offline), read_differences("online", online)
    measured = [
        *(Measurement("offline", metric, *pair) for metric, pair in offline.items()),
        *(Measurement("online", metric, *pair) for metric, pair in online.items()),
    ]
    made = Launch(name, baseline, candidate, day_of(day), launched, notes, tuple(tags), tuple(measured))
    store = open_ledger(ledger)
    store.add(made)
    return LaunchList(store.label, [one for one in store.launches() if one.name == name], written=True)


def list(ledger: Any = None, names: Iterable[str] = (), *, tags: Iterable[str] = ()) -> LaunchList:  # noqa: A001 - called as launches.list
    """Return the launches of a ledger, all or by name and tag."""
    store = open_ledger(ledger, make=False)
    wanted, some, found = set(names), set(tags), store.launches()
    if unknown := sorted(wanted - {one.name for one in found}):
        raise InputError(f"no launch is called {unknown[0]}{words.hint(unknown[0], (one.name for one in found))}")
    kept = [one for one in found if (not wanted or one.name in wanted) and (not some or some & set(one.tags))]
    return LaunchList(store.label, kept)


def import_(source: Any, ledger: Any = None) -> LaunchList:
    """Write launches of a file (``-``: standard input) of CSV, JSON lines or Parquet, of a data frame or of a list of records to a ledger, all or none.

    One line per launch and metric: ``launch, side, metric, difference, standard_error``, and optionally ``date, baseline, candidate, launched, better,
    baseline_value, units, verdict, conventions, judgments, covariances, tags, notes``. Raises InputError with the line of a value that cannot be used.
    """
    made, store = launches_from(source), open_ledger(ledger)
    store.add(made)
    return LaunchList(store.label, made, written=True)


def correlate(
    ledger: Any = None, *, offline: Any = (), online: Any = (), tags: Iterable[str] = (), mixed: bool = False
) -> LaunchCorrelations:
    """Find out which offline metric predicts which online one over the launches of a ledger, with the noise in the differences taken off.

    ``offline`` and ``online`` name metrics, by default all. ``tags`` selects launches. With ``mixed``, differences under several conventions
    are taken together. ``rs.report(found)`` makes a page. Raises DataError without launches that have both sides.
    """
    found = list(ledger, tags=tags)
    relations = relations_of(found.launches, _names(offline), _names(online), mixed=mixed)
    return LaunchCorrelations(found.ledger, relations, mixed)


def predict(
    offline: Any, ledger: Any = None, *, online: Any = (), tags: Iterable[str] = (), mixed: bool = False
) -> LaunchPrediction:
    """Return the probability that a new launch with these offline differences wins online.

    ``offline`` maps metrics to (difference, standard error), or is the name of a launch in the ledger. Other keywords are as for ``correlate``.
    """
    found = list(ledger, tags=tags)
    of_name = [one for one in found.launches if isinstance(offline, str) and one.name == offline]
    past = [one for one in found.launches if one not in of_name]
    if of_name:
        given = {m.metric: (m.difference, m.standard_error) for m in of_name[0].of("offline")}
    else:
        given = read_differences("offline", offline)
    if not given:
        raise InputError(in_caller_syntax("no offline difference is given: like --offline nDCG@10=0.012,0.004"))
    relations = relations_of(past, given, _names(online), mixed=mixed)
    several = {r.offline: given[r.offline if r.offline in given else r.offline.partition(" [")[0]] for r in relations}
    return LaunchPrediction(found.ledger, several, relations)


def read_differences(side: str, given: Any) -> dict[str, tuple[float, float]]:
    """Return differences with their standard errors by metric, from a dict or from texts like ``nDCG@10=0.012,0.004``."""
    if not isinstance(given, Mapping):
        parts = (text.rpartition("=") for text in ([given] if isinstance(given, str) else given or ()))
        given = {name: value.replace("±", ",").split(",") for name, _, value in parts}
    out = {}
    for metric, pair in given.items():
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2 or not metric.strip():
            like = f"give a difference and its standard error, like --{side} nDCG@10=0.012,0.004"
            raise InputError(in_caller_syntax(f"--{side} {metric}: {like}"))
        out[metric.strip()] = (number_of("difference", pair[0]), number_of("standard error", pair[1]))
    return out


def _names(given: Any) -> Sequence[str]:
    return [given] if isinstance(given, str) else [str(one) for one in given or ()]
