"""Estimate the value that other policies would have had, from the log of the policy that ran."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankscope.diagnostics.codes import codes_of
from rankscope.diagnostics.rule import active_cautions
from rankscope.errors import DataError
from rankscope.estimators.catalogue import read_estimators
from rankscope.estimators.overlap import histogram
from rankscope.impressions import attribute_columns
from rankscope.panels.families import Family, SliceContrast, compare_within
from rankscope.panels.method import method_of
from rankscope.scoring.counterfactual import Counterfactual, check_target
from rankscope.scoring.logs import TimeOptions, read_log
from rankscope.verbs.estimate.result import Estimates

MOST_CONTRASTED = 40  # slices of all attributes


# fmt: off
def estimate(  # noqa: PLR0913 - the options of the command line, each with its default
    log: Any, target: Any = None, estimators: Any = None, *, baseline: str | None = None, reward: str | None = None, logging: Any = None, model: Any = None,
    examination: Any = None, force: bool = False, slices: Any = None, test: Any = None, interval: Any = None, correction: Any = "holm",
    alpha: float = 0.05, margin: Any = None, ignore: str | Iterable[str] = (), columns: Mapping[str, str] | str | None = None,
    log_format: str | None = None, time_format: str | None = None, time_zone: str | None = None, start: Any = None, end: Any = None,
) -> Estimates:
    """Estimate the value that other policies would have had, from the log of the policy that ran.

    ``log`` has one row per shown item with its reward (a click) and the probability with which it was shown (``p_item_pos``; for lists also
    ``p_prefix`` or ``p_slate``). ``target`` is the policy to evaluate, or several in a list or a dict: ``"uniform"``; the name of a column of the log with
    the target's probability of the shown item; a run, whose ranking is shown as it is; a policy on a run, as
    ``"EpsilonShuffle(epsilon=0.1) new.run"`` or ``(EpsilonShuffle(), run)``; or a function of the frame of events.

    - ``estimators``: ``"SNIPS"``, ``"IPS(clip=50)"``, several in a list. The first leads. Default: SNIPS, IPS and DR, for lists SNIIPS, IIPS and RIPS, with
      ``examination`` the DCG@10 of each target from clicks.
    - ``baseline``: the policy that others are compared with, by default ``logged``, the policy that ran. ``reward``: the column to sum.
    - ``logging``: the policy that ran if its probabilities are not in the log: a policy on a run, ``"frequencies"`` or ``"classifier"``.
    - ``model``: the reward model of DM and DR: ``"ItemMeans"`` (default), ``"Logistic"``, ``"Boosting"``, or any regressor of scikit-learn.
    - ``examination``: the probability that each position is examined: ``(1, 0.6, 0.4)``, or the file or curve of ``position_bias``.
    - ``force``: give estimates even if the log cannot support them. Otherwise they are refused, with the reason, and ``exit_code`` is 4.
    - ``slices``: columns of the log within whose values policies are compared, too.
    - ``test``, ``interval``, ``correction``, ``alpha`` and ``margin`` are as for ``compare``. Intervals count users (sessions, lists, rows) as
      independent. ``interval="bernstein(low=0, high=50)"`` holds for any log if no event can earn more than 50.
    - ``ignore``, ``columns``, ``log_format``, ``time_format``, ``time_zone``, ``start`` and ``end``: as for ``online``.

    Raises InputError for bad input. Raises DataError if the log lacks a column, or propensities are missing, 0 or above 1.

    >>> import numpy as np
    >>> draws = np.random.default_rng(0)
    >>> item = draws.choice(2, size=4000, p=[0.8, 0.2])
    >>> log = {"item": item, "p_item_pos": np.where(item == 0, 0.8, 0.2), "click": draws.random(4000) < np.where(item == 0, 0.1, 0.3)}
    >>> found = estimate(log, "uniform")
    >>> round(found["uniform", "SNIPS"].value, 2), found["uniform", "SNIPS"].verdict  # the truth is 0.2, and 0.14 as logged
    (0.2, 'better')
    """
    method = method_of(test=test, interval=interval, correction=correction, alpha=alpha, margin=margin)
    check_target(target, method)
    chosen = read_estimators(estimators) if estimators else None
    when: TimeOptions = {"time_format": time_format, "time_zone": time_zone, "start": start, "end": end}
    counterfactual = Counterfactual.of(
        read_log(log, columns=columns, log_format=log_format, **when), target, chosen, method=method, baseline=baseline, reward=reward,
        logging=logging, model=model, examination=examination, force=force,
    )
    families = [family for one in counterfactual.measured for family in one.families]
    parts, notes = _slices(counterfactual, slices, families)
    level = next((one.level for one in counterfactual.estimators if one.level), None)
    events = counterfactual.event_log.events
    targets = {name: policy for name, policy in counterfactual.policies.items() if policy is not None}
    weights = {} if level is None else {name: histogram(events.under(one).weights(level)) for name, one in targets.items()}
    return Estimates(
        counterfactual.event_log, counterfactual.values, families, active_cautions(counterfactual.cautions, frozenset(codes_of(ignore))), counterfactual.baseline, method, parts,
        (*counterfactual.event_log.notes, *notes), weights, force, str(events.model) if any(one.models for one in counterfactual.estimators) else "", str(logging or ""),
    )
# fmt: on


def _slices(
    counterfactual: Counterfactual, columns: Any, families: Sequence[Family]
) -> tuple[list[SliceContrast], list[str]]:
    """Return the policies compared within each value of the columns, by the first estimator."""
    if not columns:
        return [], []
    if not families or not families[0].validity.holds:
        return [], ["Slices are left out: the log supports no verdict"]
    systems = families[0].primary.systems
    names = attribute_columns(counterfactual.event_log.log, columns)
    panels, notes = counterfactual.slices(names, counterfactual.measured[0])
    if len(panels) > MOST_CONTRASTED * len(counterfactual.policies):
        raise DataError(f"--slices: {len(panels)} slices are too many: name fewer columns")
    within = {label: panel.of_rows([panel.systems.index(name) for name in systems]) for label, panel in panels.items()}
    return compare_within(within, families[0]), notes
