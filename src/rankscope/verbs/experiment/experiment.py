"""Analyse an experiment: roll a log up to the units that were given variants, and compare these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankscope.diagnostics.rule import active_cautions
from rankscope.errors import InputError
from rankscope.experiments.heterogeneity import slices_of
from rankscope.experiments.plan import ExperimentPlanFile, read_plan
from rankscope.experiments.request import EXPERIMENT_OPTIONS, ExperimentRequest
from rankscope.experiments.roles import Role, roles_of
from rankscope.experiments.variants import Variants, variants_of
from rankscope.impressions import attribute_columns
from rankscope.inference.corrections import none
from rankscope.logs.base import OnlineMetric
from rankscope.logs.sums import refuse_rows
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import TWO_SIDED, Method, method_of, require_own_units
from rankscope.panels.panel import Panel
from rankscope.scoring.logs import read_experiment
from rankscope.verbs.experiment.beliefs import prior_of
from rankscope.verbs.experiment.days import OverDays, over_days, share_alpha
from rankscope.verbs.experiment.result import Experiment
from rankscope.words import option_named


# fmt: off
def experiment(  # noqa: PLR0913 - the options of the command line, each with its default
    log: Any = None, metrics: Any = None, *, plan: Any = None, assignments: Any = None, events: Any = None, window: Any = None,
    variant: str | None = None, baseline: str | None = None, primary: Any = None, guardrails: Any = None, margin: Any = None,
    covariates: Any = None, split: Any = None, strata: str | None = None, winsorise: float | None = None, clusters: Any = None,
    by: Any = None, slices: Any = None, test: Any = None, interval: Any = None, correction: Any = "holm", alpha: float = 0.05,
    alternative: str = "two-sided", all_pairs: bool = False,
    prior: Any = None, decide: bool = False, columns: Mapping[str, str] | str | None = None, log_format: str | None = None, time_format: str | None = None, time_zone: str | None = None, start: Any = None, end: Any = None,
) -> Experiment:
    """Say which variant of an experiment is better for users, by how much, and whether that can be believed.

    ``log`` is a log of impressions (one row per shown item, see ``read_log``) or a table with one row per user; whatever its rows are, they are
    rolled up to the units that were given variants, and these are compared: rows of one user are not independent.

    - ``metrics``: online metrics, like ``"CTR"``, ``"Mean(revenue)"`` or ``"Ratio(orders, sessions)"``; the ``primary`` one decides (the
      first unless named). ``guardrails`` must not get worse: a metric, or a metric with the accepted loss, as in ``{"Mean(revenue)": "1%"}``.
      Every guardrail must hold, so each is tested at alpha, uncorrected. A guardrail without an accepted loss can only alarm.
    - ``margin``: a difference that would not matter, for all metrics or by metric, ``0.01`` or ``"1%"`` of the baseline: it is tested whether
      variants are practically the same, or at least not worse by as much.
    - ``variant``: the column of variants, where it has an unusual name; ``baseline``: the variant that others are compared with.
    - ``covariates``: by metric, what was known of units before: a column of numbers (or a metric, or several). It takes chance away (CUPED).
    - ``strata``: a column of units' attributes (country, platform) that is adjusted for in the same way.
    - ``clusters``: columns of the groups that were given variants (household; city and hour). They are the units. A group with several is left out.
    - ``split``: the planned shares of the variants, ``{"A": 0.9, "B": 0.1}``, even by default. ``winsorise``: cut what units add at this quantile, like 0.99.
    - ``by``: ``"day"`` compares variants on the primary metric day by day, too, and tests whether the difference changes: late less early.
    - ``slices``: columns of attributes with at most 30 values each. Variants are also compared within each value, corrected over all
      slices. One test per attribute asks if the difference depends on it, corrected over attributes.
    - ``test``, ``interval``, ``correction``, ``alpha`` are as for ``compare``; metrics that are neither primary nor guardrails are corrected together.
    - ``alternative``: ``"better"`` or ``"worse"`` (by the direction of a metric), ``"greater"`` or ``"less"`` test one side; guardrails and days stay two-sided.
      ``all_pairs`` compares every variant with every other.
    - ``prior``: asks for a Bayesian summary beside the verdict, which does not use it: ``"flat"``, or how far lifts usually are from 0, the
      standard deviation of a normal prior, like ``0.05``. ``decide``: apply the rule of ``Decision`` and give the rate of a false ship.
    - ``assignments`` and ``events``: two tables instead of a log. Units without events count as 0, events within the ``window`` after the assignment
      (``"7d"``) count, and ``covariates={"Mean(amount)": "before"}`` adjusts for events before it. ``events`` may be several tables by name.
    - ``columns``: roles of columns with unusual names, ``{"visitor": "unit_id"}``; ``log_format``: what wrote the log. ``time_format``, ``time_zone``, ``start``, ``end``: as for ``read_log``.

    - ``plan``: a TOML or JSON file (or a mapping) with these options, written before the experiment. Its table ``looks`` has the planned ``units``: each run
      on more units is a look, counted in a file next to the plan, with limits that keep alpha over all looks.

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
    options = dict(locals())
    request = ExperimentRequest(**{name: options[name] for name in EXPERIMENT_OPTIONS})
    if plan is None:
        return _analyse(log, metrics, request)
    chosen = read_plan(plan)
    result = _analyse(log, *chosen.applied(metrics, request), chosen)
    if result.validity.holds:
        chosen.write(result.look, result.units.noun)
    return result
# fmt: on


OF_VARIANTS = ("baseline", "split", "covariates", "strata", "winsorise", "clusters")


def _analyse(log: Any, metrics: Any, r: ExperimentRequest, plan: ExperimentPlanFile | None = None) -> Experiment:
    """Analyse an experiment as requested, at the look of a plan if there is one."""
    method = method_of(
        test=r.test, interval=r.interval, correction=r.correction, alpha=r.alpha, alternative=r.alternative
    )
    method = replace(method, family="all")
    require_own_units(method.test)
    require_own_units(method.interval)
    if r.all_pairs and r.baseline is not None:
        raise InputError(f"baseline {r.baseline!r} and all pairs: ask for only one")
    if method.correction.joint:
        raise InputError(
            f"correction={str(method.correction)!r} takes the values of all variants on the same units, and each has units of its own: use holm or bh"
        )
    over = _by_day(r.by)
    believed = None if r.prior is None else prior_of(r.prior)
    rows = read_experiment(
        log, variant=r.variant, columns=r.columns, log_format=r.log_format, assignments=r.assignments, events=r.events, window=r.window,
        time_format=r.time_format, time_zone=r.time_zone, start=r.start, end=r.end,
    )  # fmt: skip
    for option in [name for name, value in (("by", r.by), ("slices", r.slices)) if value]:
        refuse_rows(rows, option_named(option))
    roles = roles_of(rows, metrics, r.primary, r.guardrails, r.margin)
    attributes = attribute_columns(rows, r.slices)
    variants = variants_of(rows, list(roles), **{name: getattr(r, name) for name in OF_VARIANTS})
    look = None if plan is None else plan.look_at(variants.arms.units.count, variants.noun)
    method = method if look is None else look.method(method)
    variants = variants.looked_at(method.test)
    families = _compare(variants, roles, method := variants.method_for(method, roles), r.all_pairs)
    cautions = active_cautions(variants.cautions(roles, method.test))
    lead = next(iter(roles))
    parts, tests, notes = slices_of(variants, attributes, lead, families[0])
    days: OverDays | None = None
    if over:
        days, tests = share_alpha(over_days(variants, lead, families[0]), tests, method)
    return Experiment(
        variants, roles, families, parts, cautions, believed, tests, days, slice_notes=notes, decide=r.decide, look=look
    )


def _by_day(by: object) -> bool:
    """Return True if days are requested. Raises InputError for any other part."""
    names = [] if by is None else [by] if isinstance(by, str) else list(by) if isinstance(by, list | tuple) else [by]
    odd = [one for one in names if one != "day"]
    if odd:
        raise InputError(
            f"by={odd[0]!r}: an experiment is reported by 'day', and by the values of a column with slices"
        )
    return bool(names)


# --- the comparison -----------------------------------------------------------------------------------------------


def _compare(variants: Variants, roles: Mapping[OnlineMetric, Role], method: Method, all_pairs: bool) -> list[Family]:
    """The primary metric by itself, guardrails uncorrected (every one must hold), all others together."""
    names, baseline = variants.names, None if all_pairs else variants.names[0]
    panels = {metric: variants.panel(metric) for metric in roles}
    margins = {panels[metric].name: role.margin for metric, role in roles.items() if role.margin is not None}
    method = replace(method, margin=margins or None)
    pairs = pairs_of(names, names[0], all_pairs)
    parts: dict[str, list[Panel]] = {"primary": [], "secondary": [], "guardrail": []}
    for metric, role in roles.items():
        parts[role.part].append(panels[metric])
    Family([*panels.values()], pairs, method, baseline).check_margins()
    methods = {"guardrail": replace(method, correction=none(), alternative=TWO_SIDED)}
    held = {part: panels for part, panels in parts.items() if panels}
    families = [Family(held[part], pairs, methods.get(part, method), baseline, variants.validity) for part in held]
    for family in families:
        _ = family.contrasts  # a test that does not fit is refused here
    return families
