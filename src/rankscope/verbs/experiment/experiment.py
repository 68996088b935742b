"""Analyse an experiment: roll a log up to the units that were given variants, and compare these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankscope.errors import InputError
from rankscope.experiments.variants import Variants, variants_of
from rankscope.inference.effects import Prior
from rankscope.logs.base import OnlineMetric
from rankscope.logs.cuts import attribute_columns
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import Method, method_of
from rankscope.scoring.logs import read_experiment
from rankscope.scoring.request import active_cautions
from rankscope.verbs.experiment.days import check_by, over_days
from rankscope.verbs.experiment.result import Experiment
from rankscope.verbs.experiment.roles import Role, roles_of
from rankscope.verbs.experiment.slices import slices_of


# fmt: off
def experiment(  # noqa: PLR0913 - the options of the command line, each with its default
    log: Any, metrics: Any = None, *,
    variant: str | None = None, baseline: str | None = None, primary: Any = None, guardrails: Any = None, margin: Any = None,
    covariates: Any = None, split: Any = None, strata: str | None = None, winsorise: float | None = None,
    by: Any = None, slices: Any = None, test: Any = None, interval: Any = None, correction: Any = "holm", alpha: float = 0.05,
    prior: Any = None, columns: Mapping[str, str] | str | None = None, log_format: str | None = None,
) -> Experiment:
    """Say which variant of an experiment is better for users, by how much, and whether that can be believed.

    ``log`` is a log of impressions (a row a shown item, see ``read_log``) or a table with a row a user; whatever its rows are, they are
    rolled up to the units that were given variants, and these are compared: rows of one user are not independent.

    - ``metrics``: online metrics, like ``"CTR"``, ``"Mean(revenue)"`` or ``"Ratio(orders, sessions)"``; the ``primary`` one decides (the
      first unless named). ``guardrails`` must not get worse: a metric, or a metric with the loss that would be accepted, as in
      ``{"Mean(revenue)": "1%"}``.
    - ``margin``: a difference that would not matter, for all metrics or by metric, ``0.01`` or ``"1%"`` of the baseline: it is tested whether
      variants are practically the same, or at least not worse by as much.
    - ``variant``: the column of variants, where it has an unusual name; ``baseline``: the variant that others are compared with.
    - ``covariates``: by metric, what was known of units before: a column of numbers (or a metric, or several). It takes chance away (CUPED).
    - ``strata``: a column of units' attributes (country, platform) that is adjusted for in the same way.
    - ``split``: the planned shares of the variants, ``{"A": 0.9, "B": 0.1}``; even unless given.
    - ``winsorise``: cut what units add at this quantile, like 0.99.
    - ``by``: ``"day"`` compares variants on the primary metric day by day, too, and tests whether the difference changes: late less early.
    - ``slices``: columns of attributes with at most 30 values each. Variants are also compared within each value, corrected over all
      slices. One test per attribute asks if the difference depends on it, corrected over attributes.
    - ``test``, ``interval``, ``correction``, ``alpha`` are as for ``compare``; the metrics beside the primary one are corrected together.
    - ``prior``: asks for a Bayesian summary beside the verdict, which does not use it: ``"flat"``, or how far lifts usually are from 0, the
      standard deviation of a normal prior, like ``0.05``.
    - ``columns``: roles of columns with unusual names, ``{"visitor": "unit_id"}``; ``log_format``: what wrote the log, as for ``read_log``.

    Raises InputError for what cannot be used, DataError where there is nothing to compare. Where units were not split as planned
    (p < 0.001) the verdict is withheld, and ``exit_code`` is 3.

    >>> import polars as pl
    >>> users = pl.DataFrame({
    ...     "user": range(2000), "variant": ["A", "B"] * 1000,
    ...     "orders": [int(i % 10 == 0 or i % 10 == 1 and i % 3 == 0 or i % 10 == 5) for i in range(2000)],
    ... })
    >>> found = experiment(users, "Mean(orders)")
    >>> found["B", "Mean(orders)"].verdict, round(found["B", "Mean(orders)"].difference, 3)
    ('better', 0.066)
    """
    method = replace(method_of(test=test, interval=interval, correction=correction, alpha=alpha), family="all")
    if method.correction.joint:
        raise InputError(f"correction={str(method.correction)!r} takes the values of all variants on the same units, and each has units of its own: use holm or bh")
    over = check_by(by)
    believed = None if prior is None else Prior.of(prior)
    given = read_experiment(log, variant=variant, columns=columns, log_format=log_format)
    roles = roles_of(given, metrics, primary, guardrails, margin)
    attributes = attribute_columns(given, slices)
    variants = variants_of(
        given, list(roles), baseline=baseline, split=split, covariates=covariates, strata=strata, winsorise=winsorise,
    )
    families = _compare(variants, roles, method)
    cautions = active_cautions(variants.cautions(roles, method.test))
    lead = next(iter(roles))
    parts, tests, notes = slices_of(variants, attributes, lead, families[0])
    days = over_days(variants, lead, method) if over else None
    return Experiment(variants, roles, families, tuple(parts), tuple(cautions), believed, tuple(tests), days, tuple(notes))
# fmt: on


# --- the comparison -----------------------------------------------------------------------------------------------


def _compare(variants: Variants, roles: Mapping[OnlineMetric, Role], method: Method) -> list[Family]:
    """The primary metric by itself; all others together; each guardrail that has a margin with it."""
    names, baseline = variants.names, variants.names[0]
    panels = {metric: variants.panel(metric) for metric in roles}
    margins = {panels[metric].name: role.margin for metric, role in roles.items() if role.margin is not None}
    method = replace(method, margin=margins or None)
    pairs = pairs_of(names, baseline, all_pairs=False)
    first, *others = panels.values()
    Family([*panels.values()], pairs, method, baseline).check_margins()
    return [
        Family([first], pairs, method, baseline, variants.validity),
        *([Family(others, pairs, method, baseline, variants.validity)] if others else []),
    ]
