"""Logs of what users were shown and did: places, clicks, repeated rows, variants, times, probabilities, empty cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from rankscope.impressions import Log
from rankscope.logs.health import REMEDIES, LogFact
from rankscope.verbs.check.rule import Finding, Rule


class _OfLog(Rule, of="log"):
    """A fact of a log shown by ``check``."""

    def find(self, case: Any) -> Iterator[Finding]:
        log = case.log
        for fact in case.health.of(self.code):
            message = fact.message.removeprefix(f"{log.label}: ")
            places = [log.source.at(row) for row in fact.rows] or list(fact.ids)
            yield self.finding(message, count=fact.count, places=places, effect=self.effect_of(log, fact))

    def effect_of(self, log: Log, fact: LogFact) -> dict[str, float]:
        """How far the click-through rate would move, where that can be told."""
        return {}


def _ctr(log: Log, clicks: pl.Expr, rows: pl.Expr) -> float:
    """A click-through rate from two sums over the rows; NaN without rows."""
    sums = [clicks.sum().cast(pl.Float64).alias("c"), rows.sum().cast(pl.Float64).alias("n")]
    over, under = log.gather(lambda frame: frame.select(sums)).sum().row(0)
    return float(over) / float(under) if under else float("nan")


def _shown(log: Log) -> pl.Expr:
    return (pl.col("shown") > 0).fill_null(value=False) if log.has("shown") else pl.lit(value=True)


CLICKED = (pl.col("click") > 0).fill_null(value=False)


class PositionsFromZero(_OfLog, code="RS601", severity="information"):
    """Positions start at 0, or below."""

    why = "Position 1 is then the second place of the list, and every curve over positions is one place off from those of others."
    remedy = REMEDIES["RS601"]


class GapsInPositions(_OfLog, code="RS602", severity="information"):
    """The positions of a list are not 1, 2, 3 and so on."""

    why = "Rows of the list are missing, or it was put together from parts: what was shown in the gaps is in no rate, and list metrics see a shorter list."
    remedy = REMEDIES["RS602"]


class ClickOutsideShown(_OfLog, code="RS603", tail="; counted as shown: {}"):
    """Something was clicked that was not shown."""

    why = "A click needs to have been seen. Where logs of views and clicks are joined such rows tell that views were lost, or that ids differ."
    remedy = REMEDIES["RS603"]

    def effect_of(self, log: Log, fact: LogFact) -> dict[str, float]:
        known = pl.col("click").is_not_null()
        now = _ctr(log, CLICKED & _shown(log), known & _shown(log))
        return {"CTR": _ctr(log, CLICKED, known & (_shown(log) | CLICKED)) - now}


class RepeatedItem(_OfLog, code="RS604", tail="; each once: {}"):
    """An item stands in a list more than once."""

    why = "Each row is counted, so a list that was logged twice weighs twice, and its clicks do."
    remedy = REMEDIES["RS604"]

    def effect_of(self, log: Log, fact: LogFact) -> dict[str, float]:
        if not log.has("click"):
            return {}
        rows = _shown(log) & pl.col("click").is_not_null()
        now = _ctr(log, CLICKED & rows, rows)
        most = CLICKED.cast(pl.Float64).max().alias("click_here"), rows.max().alias("row_here")

        def once(frame: pl.LazyFrame) -> pl.LazyFrame:
            pairs = frame.group_by("impression_id", "item_id").agg(most)
            return pairs.filter("row_here").select(pl.col("click_here").sum(), pl.len())

        over, under = log.gather(once, "impression_id").sum().row(0)
        return {"CTR": float(over) / under - now} if under else {}


class SeveralVariants(_OfLog, code="RS605"):
    """A unit has rows in several variants."""

    why = "Who saw both variants is like neither: what the one did to them is counted for the other, and the difference shrinks or turns."
    remedy = REMEDIES["RS605"]


class OneVariant(_OfLog, code="RS606"):
    """All rows are of one variant."""

    why = "There is nothing to compare with: the rows of the other variants were not logged, or were filtered out."
    remedy = REMEDIES["RS606"]


class TimesGoBack(_OfLog, code="RS607", severity="information"):
    """Times go back from row to row within a session or a unit."""

    why = "Clocks of several machines, or rows that arrived late: session lengths and times to success are then those of clocks, not of people."
    remedy = REMEDIES["RS607"]


class NoPropensity(_OfLog, code="RS608"):
    """A probability of being shown is not above 0 and at most 1."""

    why = "Estimates for other policies divide by it: 0 says that what was shown could not be shown, and more than 1 is a weight, not a probability."
    remedy = REMEDIES["RS608"]


class PrefixRises(_OfLog, code="RS609"):
    """The probability of a list down to a place rises with the place."""

    why = "A longer prefix can only be less probable: the column holds something else, as the probability of each item."
    remedy = REMEDIES["RS609"]


class SlateVaries(_OfLog, code="RS610"):
    """The probability of a whole list is not one number within it, or is above that of its beginning."""

    why = "A list has one probability. Where rows disagree the weight of the list depends on which of them is read."
    remedy = REMEDIES["RS610"]


class NoZeros(_OfLog, code="RS611", tail="; with 0 in the empty cells: {}"):
    """A column of outcomes has values and empty cells but no 0."""

    why = "Empty means that nobody looked, 0 that nothing happened. Without a single 0 only those who clicked count, and the click-through rate is 100%."
    remedy = REMEDIES["RS611"]

    def effect_of(self, log: Log, fact: LogFact) -> dict[str, float]:
        if fact.column != "click":
            return {}
        now = _ctr(log, CLICKED & _shown(log), pl.col("click").is_not_null() & _shown(log))
        return {"CTR": _ctr(log, CLICKED & _shown(log), _shown(log)) - now}


class NegativeAmount(_OfLog, code="RS612"):
    """Revenue or dwell time is negative."""

    why = "Refunds among sales pull means down without a customer having bought less, and a negative time is an error of a clock."
    remedy = REMEDIES["RS612"]


class DayWithoutTraffic(_OfLog, code="RS613"):
    """A day within the log has no row."""

    why = "Nobody comes on no day by chance: logging failed. Return rates and days of an experiment that contain such a day are too low."
    remedy = REMEDIES["RS613"]


class EmptyId(_OfLog, code="RS614"):
    """Rows have no id of the user, the session, the list or the item, or no time."""

    why = "A row without a user belongs to nobody: who is rolled up without it looks less active, and who has none is often a robot or a new user."
    remedy = REMEDIES["RS614"]


class CovariateAfterStart(_OfLog, code="RS615"):
    """A covariate looks as if it was measured after the start."""

    why = "Adjusting for what the treatment has changed takes a part of its effect away. A number from before cannot change, nor differ between variants."
    remedy = REMEDIES["RS615"]


class SharedList(_OfLog, code="RS616"):
    """One id of a list stands for lists of several units."""

    why = "Lists of several people count as one: it has a click as soon as one of them clicked."
    remedy = REMEDIES["RS616"]


class _OfExperiment(Rule, of="log", other_verb="rankscope experiment"):
    """A doubt of ``experiment``, which alone can have it."""


class SkewedUnits(_OfExperiment, code="RS640"):
    """A variant has too few units for how skewed what they add is."""

    why = "A t interval covers as it says from about 355 units times the squared skewness on: below that a few large orders decide."
    remedy = REMEDIES["RS640"]


class FewBeyondQuantile(_OfExperiment, code="RS641"):
    """A variant has too few rows beyond a quantile to say how sure it is."""

    why = "A quantile is as sure as the share of rows beyond it: where a handful of users hold these, the next one moves it."
    remedy = REMEDIES["RS641"]


class WithoutVariant(_OfExperiment, code="RS642"):
    """Units have no variant, and are left out of an experiment."""

    why = "They were not in the experiment, or their assignment was lost: where more of one variant were lost than of the other, the rest differs."
    remedy = REMEDIES["RS642"]


class NoUnits(_OfExperiment, code="RS643"):
    """No column names who was given a variant, so that sessions, lists or rows count as independent."""

    why = "Rows of one user are alike. A test that takes them for independent finds differences where there are none, in a quarter of experiments and more."
    remedy = REMEDIES["RS643"]


class CutLeavesNothing(_OfExperiment, code="RS644"):
    """Cutting at a quantile would make all units the same, so a metric is not cut."""

    why = (
        "Where fewer units do something than are cut, the quantile is that of units which do nothing: cut there, nobody would have done anything, "
        "and variants would be the same whatever they do."
    )
    remedy = REMEDIES["RS644"]


class EmptyCountsAsZero(_OfExperiment, code="RS645"):
    """A column that a metric adds up is empty for some units, which count as 0."""

    why = "A mean over units counts every unit. Where an empty cell says that nobody looked, the mean is too low, and in one variant more than in another."
    remedy = REMEDIES["RS645"]
