"""The tables of an experiment: columns for programs and for people."""

from __future__ import annotations

import math
from typing import Any

from rankscope import words
from rankscope.experiments.heterogeneity import remark_on_slices
from rankscope.inference.effects import Prior
from rankscope.panels.contrast_result import DECIDED, WITH_MARGIN, columns_named, p_cell, value_cell
from rankscope.show.result import Col, View
from rankscope.verbs.experiment import beliefs
from rankscope.verbs.experiment.days import change_cell, with_lift

WITHHELD = "withheld"


def _of_contrast(experiment: Any) -> tuple[Col, ...]:
    corrected = any(c.comparisons > 1 for c in experiment.contrasts)
    with_margin = any(role.margin is not None for role in experiment.roles.values())
    return (
        *columns_named("metric", "variant", "baseline", baseline="against" if experiment.all_pairs else ""),
        Col("role", of=experiment.part_of),
        *columns_named(
            "value", "baseline_value", "difference", "ci", "relative", "relative_ci", "p_value", "p_value_adjusted", "verdict", "test", "units",
            "detectable", "ci_adjusted", "relative_ci_adjusted", "correction", "comparisons",
            baseline_value="its value" if experiment.all_pairs else experiment.baseline, p_value_adjusted="p, corrected" if corrected else "p",
        ),
        *(Col(*col.names, of=col.of, kind=col.kind) for col in (columns_named(*WITH_MARGIN, *DECIDED) if with_margin else ())),
        *(Col(*col.names, of=col.of, kind=col.kind) for col in (beliefs.columns_of(experiment.prior) if experiment.prior else ())),
    )  # fmt: skip


def _of_heterogeneity(experiment: Any) -> tuple[Col, ...]:
    holds = experiment.validity.holds
    return (
        Col("attribute", head="attribute"),
        Col("metric"),
        Col("variant", of=lambda row: row.run, head="variant"),
        Col("baseline"),
        Col("slices", of=lambda row: len(row.slices), kind="count", head="slices"),
        Col("shared", kind="count"),
        Col("statistic", kind="value"),
        Col("p_value", kind="value"),
        Col("p_value_adjusted", kind="value", head="p, corrected", cell=lambda row: p_cell(row.p_value_adjusted)),
        Col("verdict", of=lambda row: ("depends" if row.significant else "cannot tell") if holds else WITHHELD, head="verdict"),
    )  # fmt: skip


def _of_power(experiment: Any) -> tuple[Col, ...]:
    several = words.plural(experiment.units.noun)
    return (
        *columns_named("metric", "variant", "units", units=several),
        Col("detectable", head="detectable difference", kind="value", of=lambda c: c.detectable.difference,
            cell=lambda row: value_cell(row, row.detectable.difference)),
        Col("detectable_lift", head="as lift", kind="value", of=lambda c: c.detectable.difference / (abs(c.baseline_value) or math.nan),
            cell=lambda row: words.in_table(words.relative(row.detectable.difference / (abs(row.baseline_value) or math.nan)))),
        *columns_named("difference", "relative", difference="observed", relative="observed lift"),
        Col("units_needed", head=f"{several} to show the observed", kind="count", of=lambda c: c.queries_needed),
    )  # fmt: skip


BY_DAY = (
    Col("day", of=lambda row: str(row.day), head="day"),
    Col("number", kind="count"),
    *columns_named(
        "metric", "variant", "baseline", "value", "baseline_value", "difference", "ci", "relative", "relative_ci", "p_value", "units",
        at="contrast", metric="", value="", baseline_value="", relative_ci="", units="units",
    ),
)  # fmt: skip
VIEWS: tuple[View, ...] = (
    View("results", _of_contrast, lambda experiment: experiment.contrasts, labels=2),
    View(
        "variants",
        (
            Col("variant", of=lambda row: row[0], head="variant"),
            Col("units", of=lambda row: row[1], kind="count", head="units"),
            Col("share", of=lambda row: row[2], kind="value", head="share", cell=lambda row: words.share(row[2], 1)),
            Col("planned", of=lambda row: row[3], kind="value", head="planned", cell=lambda row: words.share(row[3], 1)),
        ),
        lambda experiment: experiment.split,
    ),
    View(
        "posterior",
        lambda experiment: (Col("metric", head="metric"), Col("variant", of=lambda c: c.run, head="variant"), *beliefs.columns_of(experiment.prior or Prior())),
        lambda experiment: experiment.contrasts if experiment.prior and experiment.validity.holds else (),
        "Posterior",
        lambda experiment: f"prior: {experiment.prior}",
        labels=2,
    ),
    View(
        "slices",
        (
            Col("attribute", head="attribute"),
            Col("slice", of=lambda row: row.name, head="slice"),
            *columns_named(
                "metric", "variant", "baseline", "difference", "ci", "p_value", "p_value_adjusted", "units", "verdict", "ci_adjusted",
                "correction", "comparisons", at="contrast", metric="", p_value_adjusted="p, corrected", units="units",
            ),
        ),
        lambda experiment: experiment.slices,
        labels=3,
        note="corrected over all slices",
    ),
    View(
        "heterogeneity",
        _of_heterogeneity,
        lambda experiment: experiment.heterogeneity,
        "Whether the difference depends on an attribute",
        lambda experiment: remark_on_slices(experiment.heterogeneity) if experiment.validity.holds else "",
        labels=2,
    ),
    View(
        "by_day", BY_DAY, lambda experiment: experiment.days.days if experiment.days else (), "The difference by day",
        lambda experiment: experiment.days.remark() if experiment.days else "", labels=2,
    ),
    View(
        "cumulated", BY_DAY, lambda experiment: experiment.days.cumulated if experiment.days else (), "The difference up to each day",
        "on all rows up to each day, not corrected for looking every day", labels=2,
    ),
    View(
        "change",
        (
            *columns_named("variant", "baseline", at="contrast"),
            *columns_named("metric", at="early", metric=""),
            Col("early", of=lambda row: row.early.difference, kind="value", head="early", cell=lambda row: with_lift(row.early)),
            Col("early_ci_lower", "early_ci_upper", of=lambda row: (row.early.bounds.lower, row.early.bounds.upper), kind="value"),
            Col("early_relative", of=lambda row: row.early.relative[0], kind="value"),
            Col("late", of=lambda row: row.late.difference, kind="value", head="late", cell=lambda row: with_lift(row.late)),
            Col("late_ci_lower", "late_ci_upper", of=lambda row: (row.late.bounds.lower, row.late.bounds.upper), kind="value"),
            Col("late_relative", of=lambda row: row.late.relative[0], kind="value"),
            Col("change", of=lambda row: row.contrast.difference, kind="value", head="change", cell=change_cell),
            *columns_named("ci", "p_value", "p_value_adjusted", "units", "ci_adjusted", at="contrast", ci="", p_value_adjusted=""),
            Col(
                "relative_change", "relative_change_ci_lower", "relative_change_ci_upper", of=lambda row: row.relative, kind="value"
            ),
            Col(
                "relative_change_p_value", "relative_change_p_value_adjusted", kind="value", head="p",
                of=lambda row: (row.growth.p_value, row.growth.p_value_adjusted) if row.growth else (math.nan, math.nan),
                cell=lambda row: p_cell(row.decisive.p_value_adjusted),
            ),
            Col("verdict"),
        ),
        lambda experiment: experiment.days.changes if experiment.days else (),
        "The difference late and early",
        lambda experiment: experiment.days.halves() if experiment.days else "",
    ),
    View(
        "power", _of_power, lambda experiment: experiment.contrasts, "Power",
        "Detectable: the smallest true difference that 80% of experiments of this size would show.", labels=2,
    ),
)  # fmt: skip
