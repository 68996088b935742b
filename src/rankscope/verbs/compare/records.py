"""Comparisons as plain records, for other programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rankscope._version import __version__
from rankscope.inference.base import Bounds
from rankscope.panels.contrast import Contrast
from rankscope.panels.families import anova_of, separated
from rankscope.show.result import input_record
from rankscope.verbs.compare.verdicts import sentences

if TYPE_CHECKING:
    from rankscope.verbs.compare.compare import Comparison

MANY = 300  # comparisons beyond which the sign-flip test beside each would take long; it is left out then
COLUMNS = (
    "run", "baseline", "metric", "value", "baseline_value", "difference", "ci_lower", "ci_upper", "p_value",
    "p_value_adjusted", "ci_lower_adjusted", "ci_upper_adjusted", "test", "correction", "comparisons", "sign_flip_p_value",
    "wins", "losses", "ties", "queries", "verdict", "interval", "relative_difference", "relative_ci_lower",
    "relative_ci_upper", "standardised_effect", "probability_of_superiority", "detectable_difference", "detectable_lower",
    "detectable_upper", "queries_needed", "queries_that_carry_it", "share_that_carries_it",
)  # fmt: skip


WITH_MARGIN = (
    "margin", "equivalence_p_value", "equivalence_ci_lower", "equivalence_ci_upper", "noninferiority_p_value",
)  # fmt: skip
WITH_BAYES = ("chance_better", "chance_worse", "chance_practically_equal")
WITH_SLICES = ("attribute", "slice")


def columns_of(found: Comparison) -> tuple[str, ...]:
    """The columns of all records of a comparison."""
    return (
        *(WITH_SLICES if found.slices is not None else ()),
        *COLUMNS,
        *(WITH_MARGIN if found.method.margin is not None else ()),
        *(WITH_BAYES if found.method.bayes else ()),
    )


def all_records(found: Comparison) -> Iterator[dict[str, Any]]:
    """Every contrast, those of slices after the others, with the attribute and slice they are of."""
    yield from records(found.contrasts)
    yield from _slices(found)


def _slices(found: Comparison) -> Iterator[dict[str, Any]]:
    parts = found.slices.contrasts if found.slices is not None else []
    for part, record in zip(parts, records([part.contrast for part in parts]), strict=True):
        yield {"attribute": part.attribute, "slice": part.name, **record}


def records(contrasts: Sequence[Contrast]) -> Iterator[dict[str, Any]]:
    """One record a contrast; null stands for what there is not."""
    beside = len(contrasts) <= MANY
    for c in contrasts:
        share, relative = c.relative
        found, carried = c.detectable, c.favourable
        record = {
            "run": c.run,
            "baseline": c.baseline,
            "metric": c.metric,
            "value": plain(c.value),
            "baseline_value": plain(c.baseline_value),
            "difference": plain(c.difference),
            **_ends(c.bounds),
            "p_value": plain(c.p_value),
            "p_value_adjusted": plain(c.p_value_adjusted),
            **{f"{key}_adjusted": value for key, value in _ends(c.adjusted).items()},
            "test": c.test,
            "correction": str(c.method.correction),
            "comparisons": c.comparisons,
            "sign_flip_p_value": plain(c.sign_flip) if beside else None,
            "wins": c.wins,
            "losses": c.losses,
            "ties": c.ties,
            "queries": c.queries,
            "verdict": c.verdict,
            "interval": c.bounds.method,
            "relative_difference": plain(share),
            "relative_ci_lower": plain(relative.lower),
            "relative_ci_upper": plain(relative.upper),
            "standardised_effect": plain(c.effect),
            "probability_of_superiority": plain(c.superiority),
            "detectable_difference": plain(found.difference),
            "detectable_lower": plain(found.low),
            "detectable_upper": plain(found.high),
            "queries_needed": c.queries_needed,
            "queries_that_carry_it": carried[0] if carried else None,
            "share_that_carries_it": carried[1] if carried else None,
        }
        yield record | _with_margin(c) | _with_chances(c)


def _with_margin(c: Contrast) -> dict[str, Any]:
    found = c.equivalence
    if found is None:
        return {}
    return {
        "margin": c.method.margin_of(c.metric),
        "equivalence_p_value": plain(found.p_value),
        "equivalence_ci_lower": plain(found.lower),
        "equivalence_ci_upper": plain(found.upper),
        "noninferiority_p_value": None if c.not_worse is None else plain(c.not_worse),
    }


def _with_chances(c: Contrast) -> dict[str, Any]:
    return {} if c.chances is None else {f"chance_{name}": plain(p) for name, p in c.chances.items()}


def _ends(bounds: Bounds) -> dict[str, float | None]:
    return {"ci_lower": plain(bounds.lower), "ci_upper": plain(bounds.upper)}


def plain(value: float) -> float | None:
    """A number where null stands for what is undefined or has no bound."""
    return value if math.isfinite(value) else None


def envelope(found: Comparison) -> dict[str, Any]:
    """All of a comparison, with what it rests on; keys are added to it but never renamed."""
    scores = found.scores
    out: dict[str, Any] = {
        "schema": "rankscope/compare/1",
        "rankscope": __version__,
        "verdict": list(sentences(found)),
        "conventions": {**(scores.conventions if scores is not None else {}), **conventions(found)},
        "inputs": [input_record(source) for source in scores.inputs]
        if scores is not None
        else [dict(part) for part in found.given.inputs],
        "data_health": scores.data_health if scores is not None else {},
        "results": list(records(found.contrasts)),
        "means": list(means(found)),
        "top_groups": [
            {"metric": group.metric, "best": group.systems[0], "systems": list(group.systems), "of": group.of}
            for group in found.groups
        ],
    }
    if found.all_pairs:
        out["discriminative_power"] = {m: plain(separated(found.of(m))) for m in found.metrics}
        out["anova"] = list(_anovas(found))
    if found.slices is not None:
        out["slices"] = list(_slices(found))
    if found.tradeoffs is not None:
        out["tradeoffs"] = list(found.tradeoffs.records())
    if found.given.replicates:
        out["replicates"] = list(replicates(found))
    return out | {"warnings": [warned.as_dict() for warned in found.warnings]}


def _anovas(found: Comparison) -> Iterator[dict[str, Any]]:
    for field in found.fields:
        anova = anova_of(field)
        if anova is not None:
            freedom = {"freedom_systems": anova.freedom[0], "freedom_residual": anova.freedom[1]}
            yield {"metric": field.name, "F": plain(anova.F), "p_value": plain(anova.p_value), **freedom}


def conventions(found: Comparison) -> dict[str, Any]:
    """How runs were compared."""
    method = found.method
    return {
        "baseline": None if found.all_pairs else found.baseline,
        "primary": found.primary,
        "primary_declared": found.declared,
        "test": None if method.test is None else str(method.test),
        "test_in_words": "paired t test; where fewer than 6 queries differ, the exact sign-flip test"
        if method.test is None
        else method.test.hypothesis,
        "interval_of_differences": "t" if method.interval is None else str(method.interval),
        "alpha": method.alpha,
        "correction": str(method.correction),
        "controls": method.correction.controls,
        "family": "all metrics and runs" if method.family == "all" else "the runs of each metric",
        "comparisons": max((c.comparisons for c in found.contrasts), default=0),
        "clustered": found.fields[0].clusters is not None,
        "compared": len(found.systems),
        "candidates_tried": found.tried,
        "compare_seed": method.seed,
    }


def means(found: Comparison) -> Iterator[dict[str, Any]]:
    """The mean of each run on each metric, with its interval."""
    for field in found.fields:
        for system in field.systems:
            sample = field.sample(system)
            bounds = field.interval(system, found.method.level)
            yield {
                "run": system,
                "metric": field.name,
                "value": plain(sample.mean),
                **_ends(bounds),
                "interval": bounds.method,
                "queries": sample.count,
            }


def replicates(found: Comparison) -> Iterator[dict[str, Any]]:
    """The variances of each system that ran several times: between queries, and between its runs."""
    for metric, by_system in found.given.replicates.items():
        if metric not in found.metrics:
            continue
        for system, r in by_system.items():
            yield {
                "run": system,
                "metric": metric,
                "runs": r.runs,
                "variance_between_queries": plain(r.between_queries),
                "variance_between_runs": plain(r.between_runs),
                "deviation_of_run_means": plain(r.deviation),
                "share_that_more_runs_remove": plain(r.removable),
            }
