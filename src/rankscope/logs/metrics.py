"""The online metrics: clicks, conversions, money, time, sessions and users who come back, each declared once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, ClassVar, Literal

import polars as pl

from rankscope import words
from rankscope.declared import Param, required_parameters
from rankscope.errors import InputError
from rankscope.impressions import COLUMNS, OUTCOMES, Log, one_key
from rankscope.logs.base import Column, Days, Direction, OnlineMetric, RatioParts
from rankscope.logs.conditions import condition_of, why_no_condition
from rankscope.logs.rollup import unit_of

Seconds = Annotated[float, Param("how many seconds", low=0.0)]
click, conversion, revenue, query = (pl.col(name) for name in ("click", "conversion", "revenue", "query_id"))
at, first = pl.col("timestamp"), pl.col(" first")  # of each unit, if windows are measured from it
DAY = timedelta(days=1)
Where = Annotated[
    str,
    Param("a condition on the rows that count, like event = 'purchase'; all rows count without one", reason_against=lambda text: why_no_condition(text) if text else ""),
]  # fmt: skip
ONE = (pl.len() > 0).cast(pl.Float64)  # of each group: a literal is a list there to older Polars


def _shown(log: Log) -> pl.Expr:
    """Which rows were shown: all, where no column says so."""
    return (pl.col("shown") > 0).fill_null(value=False) if log.has("shown") else pl.lit(value=True)


def _any(rows: pl.Expr) -> pl.Expr:
    """1 for a group if any of its rows fulfils a condition, otherwise 0."""
    return rows.any().cast(pl.Float64)


def _clicks(log: Log) -> tuple[pl.Expr, pl.Expr]:
    """Rows that were shown and whose click is known, and the clicked ones of them."""
    known = _shown(log) & click.is_not_null()
    return known, known & (click > 0)


def _when(rows: pl.Expr, value: pl.Expr) -> pl.Expr:
    """A value in some rows, 0 in the others."""
    return pl.when(rows).then(value).otherwise(0.0)


def _kept(log: Log, where: str, value: pl.Expr) -> pl.Expr:
    """A value in the rows that fulfil a condition, null in the others."""
    return pl.when(condition_of(where, log)).then(value) if where else value


class CTR(OnlineMetric, aliases=("ClickThroughRate", "click_through_rate")):
    """Clicked impressions, out of those shown."""

    rowwise = True
    needs = ("click",)
    unit, above, below = "impression", "impressions that were clicked", "impressions that were shown"
    range = (0.0, 1.0)
    watch = "It falls with position, so a longer list has a lower one: compare lists of one length, or ListCTR."
    best_for = "items shown one at a time: ads, feeds, recommendations"

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        known, clicked = _clicks(log)
        return RatioParts("row", clicked, known)


class ListCTR(OnlineMetric, aliases=("SERPCTR", "list_ctr")):
    """Lists with a click, out of all lists shown."""

    needs = ("impression_id", "click")
    unit, above, below = "list", "lists with a click", "lists that were shown"
    range = (0.0, 1.0)
    watch = "A list that answers by itself needs no click: look at GoodAbandonment as well."
    best_for = "search: whether a page of results was of use"

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        known, clicked = _clicks(log)
        return RatioParts("list", _any(clicked), _any(known), distinct=True)


class Abandonment(OnlineMetric):
    """Lists without a click, out of all lists shown."""

    needs = ("impression_id", "click")
    unit, above, below = "list", "lists without a click", "lists that were shown"
    better, range = "lower", (0.0, 1.0)
    watch = "It treats a list that failed like one that answered without a click."

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        known, clicked = _clicks(log)
        return RatioParts("list", (known.any() & ~clicked.any()).cast(pl.Float64), _any(known), distinct=True)


class GoodAbandonment(OnlineMetric):
    """Lists without a click whose reward says that they were of use, out of all lists without a click."""

    needs = ("impression_id", "click", "reward")
    unit, above = "list", "lists without a click and with a reward above 0"
    below = "lists without a click, with a known reward"
    range = (0.0, 1.0)
    watch = "It is as good as the column reward: an answer that was read, a thumb, a call."
    source = "Li, Huffman and Tokuda, Good abandonment in mobile and PC internet search, SIGIR 2009"

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        known, clicked = _clicks(log)
        left = known.any() & ~clicked.any() & pl.col("reward").is_not_null().any()
        good = left & (pl.col("reward") > 0).any()
        return RatioParts("list", good.cast(pl.Float64), left.cast(pl.Float64), distinct=True)


class CVR(OnlineMetric, aliases=("ConversionRate", "conversion_rate")):
    """Conversions, out of clicks (or of impressions, lists, sessions or users)."""

    per: Annotated[
        Literal["click", "impression", "list", "session", "unit"], Param("the denominator of conversions")
    ] = "click"

    rowwise = True
    needs = ("conversion",)
    unit, below = "click", "clicks (impressions, lists, sessions, users)"
    above = "clicks (impressions, lists, sessions, users) with a conversion"
    range = (0.0, 1.0)
    watch = "Out of clicks it rises when fewer people click: look at conversions per user as well."
    best_for = "shops: the clicks that reached their goal (per='unit': the share of users who convert)"

    def check(self) -> None:
        """Name the denominator in words."""
        noun = {"unit": "user"}.get(self.per, self.per)
        several = f"{noun}{'es' if noun.endswith('s') else 's'}"
        for name, text in {"unit": noun, "above": f"{several} with a conversion", "below": several}.items():
            object.__setattr__(self, name, text)

    def __str__(self) -> str:
        return f"CVR(per={self.per!r})"  # a rate without its denominator is ambiguous

    __repr__ = __str__

    def columns(self, log: Log) -> tuple[str, ...]:
        more = {"click": ("click",), "list": ("impression_id",), "session": ("session_id",), "unit": ("unit_id",)}
        return (*self.needs, *more.get(self.per, ()))

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        known = _shown(log) & conversion.is_not_null()
        if self.per in {"click", "impression"}:
            rows = known & (click > 0).fill_null(value=False) if self.per == "click" else known
            return RatioParts("row", rows & (conversion > 0), rows)
        bought = _any(known & (conversion > 0))
        return RatioParts(self.per, bought, _any(known), distinct=True)  # type: ignore[arg-type] # it is no row here


class RPM(OnlineMetric, aliases=("RevenuePerThousand",)):
    """Revenue from a thousand impressions."""

    rowwise = True
    needs = ("revenue",)
    unit, above, below = "impression", "1,000 times the revenue", "impressions that were shown"
    watch = "A few large orders carry it: look at intervals, and winsorise."
    best_for = "ads and shops: the revenue of a place on the page"

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        known = _shown(log) & revenue.is_not_null()
        return RatioParts("row", _when(known, 1000.0 * revenue), known)


class OrderValue(OnlineMetric, aliases=("AOV",)):
    """Revenue, out of the number of conversions."""

    rowwise = True
    needs = ("revenue", "conversion")
    unit, above, below = "order", "revenue of conversions", "conversions"
    watch = "It ignores the number of buyers: a change that drives small buyers away raises it."

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        known = revenue.is_not_null() & conversion.is_not_null() & (conversion > 0)
        return RatioParts("row", _when(known, revenue), _when(known, conversion))


class Dwell(OnlineMetric, aliases=("DwellTime", "dwell_time")):
    """Seconds spent on what was clicked, the mean over clicks."""

    rowwise = True
    needs = ("click", "dwell_s")
    unit, above, below = "click", "seconds on clicked items", "clicks with a known dwell time"
    watch = "A forgotten tab counts as interest: winsorise, or count SatisfiedClicks."

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        known = (click > 0).fill_null(value=False) & pl.col("dwell_s").is_not_null()
        return RatioParts("row", _when(known, pl.col("dwell_s")), known)


class SatisfiedClicks(OnlineMetric, aliases=("SatCTR",)):
    """Impressions clicked and stayed on for some seconds, out of those shown."""

    dwell: Seconds = 30.0

    rowwise = True
    needs = ("click", "dwell_s")
    unit, below = "impression", "impressions that were shown"
    above = "clicks with a dwell time of at least the limit in seconds"
    range = (0.0, 1.0)
    watch = "30 seconds are for pages that are read: a weather report satisfies in 3."
    source = "Fox, Karnawat, Mydland, Dumais and White, Evaluating implicit measures to improve web search, TOIS 2005"

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        known = _shown(log) & click.is_not_null() & ((click <= 0) | pl.col("dwell_s").is_not_null())
        return RatioParts("row", known & (click > 0) & (pl.col("dwell_s") >= self.dwell), known)


class SessionLength(OnlineMetric):
    """Seconds from the first to the last event of a session, the mean over sessions."""

    needs = ("session_id", "timestamp")
    unit, above, below = "session", "seconds from first to last event", "sessions"
    better = "neither"
    watch = "Longer may mean interested or lost: it has no better direction."

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        return RatioParts("session", (at.max() - at.min()).dt.total_microseconds() / 1e6, ONE, distinct=True)


class ItemsPerSession(OnlineMetric):
    """Items that were shown, the mean over sessions."""

    needs = ("session_id",)
    unit, above, below = "session", "items that were shown", "sessions"
    better = "neither"

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        return RatioParts("session", pl.col(" items").sum(), ONE, distinct=True, sums={" items": _shown(log)})


class SessionsPerUser(OnlineMetric):
    """Sessions, the mean over users."""

    needs = ("unit_id", "session_id")
    unit, above, below = "user", "sessions", "users"
    watch = "It moves slowly, and is the metric that search engines trust: satisfied users return."
    source = "Kohavi, Deng, Frasca, Longbotham, Walker and Xu, Trustworthy online controlled experiments, KDD 2012"

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        return RatioParts("unit", pl.col("session_id").drop_nulls().n_unique().cast(pl.Float64), distinct=True)


class TimeToSuccess(OnlineMetric):
    """Seconds from the start of a session to its first click, the mean over sessions with one."""

    needs = ("session_id", "timestamp", "click")
    unit, above, below = "session", "seconds to the first click", "sessions with a click"
    better = "lower"
    watch = "Sessions without a click are left out: a change that loses the slow ones looks faster."

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        clicked = pl.when(click > 0).then(at).min()
        seconds = ((clicked - at.min()).dt.total_microseconds() / 1e6).fill_null(0.0)
        return RatioParts("session", seconds, clicked.is_not_null().cast(pl.Float64), distinct=True)


def _queries(again: pl.Expr, rows: pl.LazyFrame, groups: list[str]) -> pl.LazyFrame:
    """Return the first row of each query of a group, however many rows it has, in order of time; ``again`` looks at the row after it."""

    def alike(names: list[str], step: int) -> pl.Expr:
        return pl.all_horizontal(pl.col(name).eq_missing(pl.col(name).shift(step)) for name in names)

    groups = [name for name in groups if name != "query_id"]  # the next query of a session is one of another slice
    others = rows.select(*groups, query, at).filter(~alike([*groups, "query_id", "timestamp"], 1))
    once = others.unique(maintain_order=True)
    starts = query.is_not_null() & ~(alike(groups, 1) & (query == query.shift(1)).fill_null(value=False))
    # two sorts by one column take a fifth of one sort by two; Polars joins them unless a column is added in between
    ordered = once.sort(at, maintain_order=True).with_row_index(" row").sort(one_key(groups), maintain_order=True)
    ordered = ordered.filter(starts)
    return ordered.with_columns(alike(groups, -1).alias(" next")).with_columns(again.alias(" again"))


class ReformulationRate(OnlineMetric):
    """Queries that another query follows within some seconds, out of all queries of sessions."""

    within: Seconds = 300.0

    needs = ("session_id", "query_id", "timestamp")
    unit, above, below = "query", "queries followed by another one within the limit in seconds", "queries of sessions"
    better, range = "lower", (0.0, 1.0)
    watch = "Some people explore: they ask again because the answer was good."

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        soon = (at.shift(-1) - at).dt.total_microseconds() <= self.within * 1e6
        again = (pl.col(" next") & soon & (query != query.shift(-1))).fill_null(value=False)
        return RatioParts("session", pl.col(" again").sum(), pl.len(), prepared=partial(_queries, again), distinct=True)


def _with_first(rows: pl.LazyFrame, groups: list[str]) -> pl.LazyFrame:
    """Return the rows with the time of the first of each group."""
    return rows.with_columns(at.min().over(groups).alias(" first"))


class _Windowed(OnlineMetric):
    """What a unit did in some days after its first event: only units that were seen for so long count."""

    windowed: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("unit_id", "timestamp")
    unit: ClassVar[str] = "user"

    def _parts(self, value: pl.Expr, days: float, end: datetime | None, **sums: pl.Expr) -> RatioParts:
        if end is None:
            raise InputError(f"{self}: the log has no times")
        # row by row, as older Polars take a literal for a list here
        whole = (first <= end - timedelta(days=days)).any()
        seen, left_out = whole.cast(pl.Float64), (~whole).cast(pl.Float64)
        return RatioParts("unit", value * seen, seen, left_out, prepared=_with_first, distinct=True, sums=sums)


class ReturnRate(_Windowed):
    """Users who come back within some days after their first day, out of all who were observed for so long."""

    days: Days = 7

    above, below = (
        "users with an event in the days after their first",
        "users first seen at least that long before the end",
    )
    range = (0.0, 1.0)
    watch = "Users first seen near the end of the log are left out and counted."

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        start = first.dt.truncate("1d") + DAY
        return self._parts(_any((at >= start) & (at < start + self.days * DAY)), self.days + 1, end)


class Retention(_Windowed):
    """Users with an event on the day that is so many days after their first, out of all who were observed for so long."""

    days: Days = 7

    above, below = "users with an event on that very day", "users first seen at least that long before the end"
    range = (0.0, 1.0)
    watch = "It is about one day: a weekly rhythm makes day 7 higher than day 6."

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        day = first.dt.truncate("1d") + self.days * DAY
        return self._parts(_any((at >= day) & (at < day + DAY)), self.days + 1, end)


class LTV(_Windowed, aliases=("LifetimeValue",)):
    """Revenue of a user in the first days, the mean over users who were observed for so long."""

    days: Days = 30

    needs = ("unit_id", "timestamp", "revenue")
    above, below = "revenue in the days after the first event", "users first seen at least that long before the end"
    watch = "It is the value of a horizon, not of a lifetime, and a few users hold most of it."

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        early = pl.when(at < first + self.days * DAY).then(pl.col(" revenue")).sum()
        return self._parts(early, self.days, end, **{" revenue": revenue})


def _not_below_one(q: float) -> str:
    return "" if q < 1 else "q is a share below 1, like 0.5 for the median or 0.95"


class Mean(OnlineMetric):
    """A column of numbers, summed over each unit, the mean over units with a value."""

    column: Column
    where: Where = ""
    empty: Annotated[Literal["skip", "zero"], Param("units without a value are left out, or count as 0")] = "skip"
    better: Direction = None  # type: ignore[misc] # of a column, which may be a cost

    rowwise = True
    of_columns = ("column",)
    unit, above, below = "user", "the sum of a column", "users with a value"
    range = (float("-inf"), float("inf"))
    watch = "Empty cells are not 0. If they mean that nothing happened, write empty='zero'."

    def leaves_out(self) -> bool:
        return self.empty == "skip"

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        rows = condition_of(self.where, log) if self.where else None
        number = _kept(log, self.where, log.number(self.column))
        if self.empty == "zero" or log.events is not None:
            return RatioParts("row", number.fill_null(0.0))
        known = number.is_not_null() if rows is None else number.is_not_null() | ~rows.fill_null(value=False)
        return RatioParts("row", number.fill_null(0.0), known, whole=True)


class Count(OnlineMetric):
    """Rows that fulfil a condition, the mean over units."""

    where: Where = ""
    better: Direction = None  # type: ignore[misc] # a row may be a complaint

    rowwise = True
    unit, above, below = "user", "rows that fulfil a condition", "users"
    example = "Count(where=\"event = 'purchase'\")"
    best_for = "tables of events: how often users do something"

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        return RatioParts("row", _events(log, self.where))


class Share(OnlineMetric):
    """Units with a row that fulfils a condition, out of all units."""

    where: Where
    better: Direction = None  # type: ignore[misc] # a row may be a complaint

    unit, above, below = "user", "users with a row that fulfils a condition", "users"
    range = (0.0, 1.0)
    example = "Share(where=\"event = 'purchase'\")"
    best_for = "tables of events: how many users do something at all"
    watch = "A user counts once, however many rows there are: also look at Count."

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        rows = _events(log, self.where)
        return RatioParts("unit", _any(rows), distinct=True) if unit_of(log) else RatioParts("row", rows)


def _events(log: Log, where: str) -> pl.Expr:
    """Return the rows of events that fulfil a condition, without rows of assignments."""
    rows = pl.lit(value=True) if log.events is None else pl.col(log.events)
    return rows & condition_of(where, log) if where else rows


class Attribute(OnlineMetric):
    """A number that all rows of a unit repeat, such as what was known of it before: its first value, the mean over units."""

    column: Column

    of_columns = ("column",)
    unit, above, below = "user", "the first value of a column", "users with a value"
    better, range = "neither", (float("-inf"), float("inf"))
    watch = "Units without a value do not count. A number that rows add up to is a Mean."

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        number = log.number(self.column)
        return RatioParts("once", number, number.is_not_null().cast(pl.Float64))


class Ratio(OnlineMetric):
    """One column of numbers, out of another one: the sums over all units, divided."""

    numerator: Column
    denominator: Column
    where: Where = ""
    better: Direction = None  # type: ignore[misc] # of columns, which may be costs

    rowwise = True
    of_columns = ("numerator", "denominator")
    unit, above, below = "user", "the sum of a column", "the sum of another"
    range = (float("-inf"), float("inf"))
    watch = "It is a ratio of sums, not a mean of ratios: users with a larger denominator weigh more."

    def check(self) -> None:
        """Name its columns in words."""
        for name, column in {"above": self.numerator, "below": self.denominator}.items():
            object.__setattr__(self, name, column)

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        above, below = (_kept(log, self.where, log.number(name)) for name in (self.numerator, self.denominator))
        return RatioParts("row", above.fill_null(0.0), below.fill_null(0.0))


class Quantile(OnlineMetric):
    """The value that a share q of the rows do not exceed: of waiting times with q=0.95 what 19 of 20 stay within."""

    column: Column
    q: Annotated[float, Param("the share of rows at or below it", above=0.0, reason_against=_not_below_one)]
    per: Annotated[Literal["row", "unit"], Param("the rows themselves, or users with the sum of their rows")] = "row"  # fmt: skip
    where: Where = ""
    better: Direction = "neither"  # type: ignore[misc] # a column may be a time as well as money

    rowwise = True
    of_columns = ("column",)
    unit, example = "row", "Quantile(COLUMN, q=0.95)"
    above = "the smallest value that a share q of the rows do not exceed"
    range = (float("-inf"), float("inf"))
    watch = (
        "It is an observed value. With an even number of rows the median is the lower of the two in the middle "
        "(type 1, numpy's inverted_cdf, while pandas and numpy.quantile interpolate). Rows without a value do not count."
    )
    best_for = "waiting times (q=0.95, better='lower'), and amounts with a mean that depends on a few"
    source = "Deng, Knoblich and Lu, Applying the delta method in metric analytics, KDD 2018; Liu, Sun, Varshney and Xu, Large-scale online experimentation with quantile metrics, 2019"

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        value = _kept(log, self.where, log.number(self.column))
        if self.per == "row" or not unit_of(log):
            return RatioParts("values", value)
        return RatioParts("unit", value.sum(), _any(value.is_not_null()))


def usual_metrics(log: Log) -> list[OnlineMetric]:
    """Return the usual metrics of a log by its columns, with means per unit instead of metrics per row if it has no impressions."""
    known = dict.fromkeys(cls for cls in OnlineMetric.catalogue.values() if cls.__module__ == __name__)
    usual = [cls() for cls in known if not (required_parameters(cls) or cls.example)]
    metrics = [metric for metric in usual if log.has(*metric.columns(log))]
    if log.of_impressions or not log.has("unit_id"):
        return metrics
    means = [Mean(column=log.roles[name]) for name in OUTCOMES if log.has(name)]
    return [*means, *(metric for metric in metrics if not metric.rowwise)]


def deciding_metrics(log: Log) -> list[OnlineMetric]:
    """The usual metrics to decide an experiment by, if a log of impressions has their columns."""
    usual = (CTR(), ListCTR(), CVR(), RPM())
    return [metric for metric in usual if log.of_impressions and log.has(*metric.columns(log))]


def require_deciding(log: Log) -> list[OnlineMetric]:
    """The metrics by which an experiment is decided where none is named. Raises InputError, with an example, where the columns allow none."""
    if metrics := deciding_metrics(log):
        return metrics
    numbers = [name for role, name in log.roles.items() if COLUMNS[role].kind not in {"id", "time"}]
    columns = [*numbers, *log.attributes]
    there = words.listing(columns) or "ids only"
    examples = [f"-m {example}" for example in _examples(log, columns)] or ["-m 'Mean(column)'"]
    raise InputError(f"{log.label}: name a metric, like {words.listing(examples, last='or')} (columns: {there})")


def _examples(log: Log, columns: list[str]) -> Iterator[str]:
    """Yield a mean of the first column of numbers, and for events the share of units with the first kind of event."""
    for name in columns:
        with suppress(InputError):
            log.number(name)
            yield f"'Mean({name})'"
            break
    texts = [name for name in reversed(columns) if log.schema[log.column(name)] == pl.String]
    if texts and log.events is not None:
        value = log.collect(log.frame.select(pl.col(log.column(texts[0])).drop_nulls().head(1)))
        metrics = [str(Share(where=f"{texts[0]} = {str(one)!r}")) for one in value.to_series()]
        yield from ('"' + metric.replace('"', '\\"') + '"' for metric in metrics)


def require_direction(log: Log, metric: OnlineMetric) -> None:
    """Raise InputError for a metric that decides if its better direction is unknown, or neither."""
    if "better" not in metric.defaults and metric.direction == "neither":
        raise InputError(f"{metric} has no better direction: it cannot decide, name another metric")
    if metric.direction == "neither" or metric.assumes(log):
        ways = " or ".join(str(metric.having(better=way)) for way in ("higher", "lower"))
        raise InputError(f"{metric} decides, but its better direction is unknown: write {ways}")
