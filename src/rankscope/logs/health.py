"""Checks of a log: each problem with its size, its first places and its rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.diagnostics import logs as rules
from rankscope.diagnostics.rule import Finding, Rule
from rankscope.impressions import COLUMNS, OUTCOMES, Log, first_known, one_key
from rankscope.logs.base import OnlineMetric
from rankscope.logs.metrics import Mean, Ratio
from rankscope.logs.rollup import UnitTotals
from rankscope.moments import Moments

PART = 1 << 23  # rows that are grouped at a time: checks hold more of each than metrics do
MAX_ROWS_FOR_GROUPED_CHECKS = 2_000_000  # in a larger log only `check` groups and sorts rows
EXAMPLES = 3
ROUNDING = 1e-9  # probabilities closer than this are equal
ROWS_AT_THE_TOP = 1000  # most logs show two variants within these rows
MAX_STEPS_BACK, FEWEST_STEPS = 0.4, 100  # half of the steps go back if rows are in no order
MAX_SHARE_GOING_BACK = 0.5  # above it, rows are not in order of time at all
CLEAR_STANDARD_ERRORS = 3.29  # chance exceeds them once in a thousand times
NAMES_OF_COVARIATES = ("before", "pre", "prior", "baseline", "past")
OUTCOMES_MOSTLY_ZERO = ("click", "conversion", "revenue", "reward")
PROPENSITIES = ("p_item_pos", "p_prefix", "p_slate")
IDS = ("unit_id", "impression_id", "session_id", "item_id", "variant", "timestamp")
CLICKED = (pl.col("click") > 0).fill_null(value=False)


@dataclass(frozen=True)
class LogHealth:
    """The state of a log: its ``rows``, the ``facts`` found, and the codes ``left`` out because the log is large.

    ``first_position`` is 0 or 1. ``unordered`` are codes left out because rows of the log have no order.
    """

    rows: int
    facts: tuple[Finding, ...]
    left: tuple[str, ...] = ()
    first_position: int = 1
    unordered: tuple[str, ...] = ()

    def of(self, code: str) -> tuple[Finding, ...]:
        """Return the facts of a code."""
        return tuple(fact for fact in self.facts if fact.code == code)

    def as_dict(self) -> dict[str, Any]:
        """Return the number of rows, and of rows or groups per code; null for a code that was not checked."""
        counts: dict[str, int | None] = dict.fromkeys((*self.left, *self.unordered))
        for fact in self.facts:
            counts[fact.code] = (counts.get(fact.code) or 0) + (fact.count or 0)
        return {"rows": self.rows, **counts}

    def remark(self) -> str:
        """Return a sentence about the codes that were not checked; empty if all were."""
        left = words.listing(self.left, most=12)
        many = f"Not checked in {words.counted(self.rows, 'row')}: {left} (rankscope check LOG does)" if left else ""
        no_order = f"Not checked, as rows have no order: {words.listing(self.unordered)}" if self.unordered else ""
        return ". ".join(filter(None, (many, no_order)))


@dataclass(frozen=True)
class LogCheck:
    """One check of a log: an expression that is true for bad rows, or for bad groups of rows ``by`` a column.

    ``needs`` are the columns without which there is nothing to check; the first one is named in the message.
    """

    rule: Rule
    needs: tuple[str, ...]
    bad: Callable[[Log], pl.Expr]
    by: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def finding(self, log: Log, count: int, total: int, places: Sequence[str], whole: bool = False) -> Finding:
        """Return the finding for a number of bad rows or groups; of the ``whole`` log with its effect."""
        return self.rule.finding(
            log=log.label, unit=log.unit_noun, column=log.roles[self.needs[0]], count=count, total=total, places=places,
            effect=_effect_of(self.rule, log) if whole else None, **self.numbers,
        )  # fmt: skip


def _negative(name: str) -> pl.Expr:
    return (pl.col(name) < 0).fill_null(value=False)


def _varying_slate(log: Log) -> pl.Expr:
    most = pl.col("p_slate").max()
    varies = most - pl.col("p_slate").min() > ROUNDING
    return varies | (most - pl.col("p_prefix").min() > ROUNDING) if log.has("p_prefix") else varies


def _several(column: str) -> Callable[[Log], pl.Expr]:
    return lambda _: pl.col(column).drop_nulls().n_unique() > 1


def _gaps(first: int) -> LogCheck:
    position = pl.col("position").drop_nulls()
    gap = (position.max() - first + 1 != position.len()) | (position.n_unique() != position.len())
    numbers = {"first": first, "second": first + 1, "third": first + 2}
    return LogCheck(rules.GapsInPositions, ("position",), lambda _: gap, "impression_id", numbers)


LOG_CHECKS: tuple[LogCheck, ...] = (
    LogCheck(rules.ClickOutsideShown, ("shown", "click"), lambda _: CLICKED & (pl.col("shown") <= 0).fill_null(value=True)),
    LogCheck(rules.SeveralVariants, ("variant",), _several("variant"), "unit_id"),
    LogCheck(rules.PrefixRises, ("p_prefix", "position"),
             lambda _: (pl.col("p_prefix").sort_by("position").diff() > ROUNDING).any(), "impression_id"),
    LogCheck(rules.SlateVaries, ("p_slate",), _varying_slate, "impression_id", {"prefix": COLUMNS["p_prefix"].name}),
    LogCheck(rules.SharedList, ("unit_id",), _several("unit_id"), "impression_id"),
    *(LogCheck(rules.NoPropensity, (name,), lambda _, name=name: ~pl.col(name).is_between(0, 1, closed="right").fill_null(value=True)) for name in PROPENSITIES),  # type: ignore[misc]
    LogCheck(rules.NegativeAmount, ("revenue",), lambda _: _negative("revenue"), numbers={"amount": "revenue"}),
    LogCheck(rules.NegativeAmount, ("dwell_s",), lambda _: _negative("dwell_s"), numbers={"amount": "time"}),
    *(LogCheck(rules.EmptyId, (name,), lambda _, name=name: pl.col(name).is_null()) for name in IDS),  # type: ignore[misc]
)  # fmt: skip


def examine(
    log: Log, *, whole: bool = False, metrics: Sequence[OnlineMetric] | None = None, covariates: Sequence[str] = ()
) -> LogHealth:
    """Check a log: rows in one pass, then groups of rows.

    In a log of more than 2 million rows, groups and empty ids are checked only for the ``whole``. With ``metrics``, outcomes and probabilities
    are checked only if these read them. ``covariates`` are columns measured before the start, added to the columns with a name that shows it.
    """
    quick = log.rows > MAX_ROWS_FOR_GROUPED_CHECKS and not whole
    log = replace(log, part=PART) if log.rows > PART else log
    unused = set() if metrics is None else {*OUTCOMES, *PROPENSITIES}.difference(*(one.reads(log) for one in metrics))
    unused |= {"timestamp"} if log.events is not None else set()  # events without a time were noted when they were read
    checks = [one for one in LOG_CHECKS if log.has(*one.needs) and unused.isdisjoint(one.needs)]
    by_row = [one for one in checks if not one.by and not (quick and one.rule is rules.EmptyId)]
    outcomes = [name for name in _with_zeros(log, metrics) if log.has(name) and name not in unused]
    rows, facts, first = _by_row(log, by_row, outcomes, whole)
    by_group = [one for one in (_gaps(first), *checks) if one.by and log.has(one.by, *one.needs)]
    grouped = _grouped_checks(log, covariates, whole)
    unordered: tuple[str, ...] = ()
    if log.elsewhere is not None and rules.TimesGoBack.code in grouped:
        del grouped[rules.TimesGoBack.code]
        unordered = (rules.TimesGoBack.code,)
    left: tuple[str, ...] = ()
    if quick:
        empty = {one.rule.code for one in checks if one.rule is rules.EmptyId}
        left = tuple(sorted({one.rule.code for one in by_group} | set(grouped) | empty))
    else:
        for column in dict.fromkeys(one.by for one in by_group):
            facts += _by_group(log, column, [one for one in by_group if one.by == column])
        for check in grouped.values():
            facts += check()
    return LogHealth(rows, tuple(sorted(facts, key=lambda fact: fact.code)), left, first, unordered)


def _with_zeros(log: Log, metrics: Sequence[OnlineMetric] | None) -> tuple[str, ...]:
    """Return the outcomes that need zeros: those that a metric reads that has no filter and takes no empty cell for 0. Events of a table of their own need none."""
    if log.events is not None:
        return ()
    if metrics is None:
        return OUTCOMES_MOSTLY_ZERO
    plain = [one for one in metrics if not getattr(one, "where", None) and getattr(one, "empty", "") != "zero"]
    read = set[str]().union(*(one.reads(log) for one in plain))
    return tuple(name for name in OUTCOMES_MOSTLY_ZERO if name in read)


def empty_cells(log: Log, units: UnitTotals, known: Iterable[Finding] = ()) -> list[Finding]:
    """Return a finding per metric of columns with empty cells: units that a Mean leaves out, and cells that a Ratio counts as 0."""
    doubted = {*OUTCOMES_MOSTLY_ZERO} if any(one.code == rules.NoZeros.code for one in known) else set()
    findings = []
    for metric in units.metrics:
        if not (isinstance(metric, Mean) and metric.leaves_out()) or metric.reads(log) & doubted:
            continue
        if count := units.count - int(np.count_nonzero(units.columns(metric)[:, 1])):
            numbers = {"count": count, "total": units.count, "unit": units.noun, "zeros": metric.having(empty="zero")}
            findings.append(rules.EmptyCells.finding(metric=metric, column=metric.column, **numbers))
    ratios = [one for one in units.metrics if isinstance(one, Ratio)] if not log.of_impressions else []
    pairs = [(metric, name) for metric in ratios for name in (metric.numerator, metric.denominator)]
    if pairs:
        counts = [pl.len(), *(log.number(name).null_count().alias(str(i)) for i, (_, name) in enumerate(pairs))]
        rows, *empty = log.gather(lambda frame: frame.select(counts)).sum().row(0)
        findings += [
            rules.EmptyCountsAsZero.finding(metric=metric, column=name, count=count, total=rows)
            for (metric, name), count in zip(pairs, empty, strict=True)
            if count
        ]
    return findings


# --- rows -----------------------------------------------------------------------------------------------------------


def _by_row(
    log: Log, checks: Sequence[LogCheck], outcomes: Sequence[str], whole: bool
) -> tuple[int, list[Finding], int]:
    """Return the number of rows, the findings about single rows, and the first position, 0 or 1."""
    wanted: list[pl.Expr] = [pl.len().alias("rows")]
    wanted += [check.bad(log).sum().alias(f"count{i}") for i, check in enumerate(checks)]
    if log.has("position"):
        wanted.append(pl.col("position").min().alias("lowest"))
    for name in outcomes:
        column = pl.col(name)
        counted = {"null": column.null_count(), "zero": (column == 0).sum(), "more": (column > 0).sum()}
        wanted += [count.alias(f"{kind} {name}") for kind, count in counted.items()]
    facts = _merged(log.gather(lambda frame: frame.select(wanted)))
    rows = int(facts["rows"])
    counts = [(check, int(facts[f"count{i}"] or 0)) for i, check in enumerate(checks)]
    findings = _with_places(log, [(check, count) for check, count in counts if count], rows, whole)
    findings += _without_zeros(log, outcomes, facts, whole)
    findings += [*_one_variant(log), *_days(log), *_positions(log, facts.get("lowest"))]
    return rows, findings, 0 if facts.get("lowest") == 0 else 1


def _merged(parts: pl.DataFrame) -> dict[str, Any]:
    """Return the facts of several parts as one row: the lowest position, some ids, and sums of counts."""
    merged = {"lowest": pl.col("lowest").min()}
    for name, kind in parts.schema.items():
        if kind == pl.List:
            merged[name] = pl.col(name).explode().drop_nulls().unique().sort().head(EXAMPLES).implode()
    return parts.select(merged.get(name, pl.col(name).sum()) for name in parts.columns).row(0, named=True)


def _with_places(log: Log, counts: Sequence[tuple[LogCheck, int]], rows: int, whole: bool) -> list[Finding]:
    if not counts:
        return []
    first: Sequence[Sequence[int]] = [()] * len(counts)
    if log.elsewhere is None:  # rows on other machines are not numbered
        places = (check.bad(log).arg_true().head(EXAMPLES) for check, _ in counts)
        first = log.collect(log.frame.select(place.implode().alias(str(i)) for i, place in enumerate(places))).row(0)
    return [
        check.finding(log, count, rows, [log.source.at(row) for row in at], whole)
        for (check, count), at in zip(counts, first, strict=True)
    ]


def _without_zeros(log: Log, outcomes: Sequence[str], facts: Mapping[str, Any], whole: bool) -> Iterator[Finding]:
    for name in outcomes:
        empty, zeros, more = (int(facts[f"{kind} {name}"]) for kind in ("null", "zero", "more"))
        if empty and more and not zeros:
            effect = _effect_of(rules.NoZeros, log) if whole and name == "click" else None
            yield rules.NoZeros.finding(log=log.label, column=log.roles[name], count=empty, valued=more, effect=effect)


def _one_variant(log: Log) -> Iterator[Finding]:
    if not log.has("variant"):
        return
    ends = [pl.col("variant").min().alias("lowest"), pl.col("variant").max().alias("highest")]
    variants = log.gather(lambda frame: frame.head(ROWS_AT_THE_TOP).select(ends))
    if variants["lowest"].min() == variants["highest"].max():
        variants = log.gather(lambda frame: frame.select(ends))
    lowest = variants["lowest"].min()
    if lowest is not None and lowest == variants["highest"].max():
        yield rules.OneVariant.finding(log=log.label, variant=str(lowest), count=1)


def _days(log: Log) -> Iterator[Finding]:
    if not log.has("timestamp"):
        return
    table = log.gather(lambda frame: frame.select(pl.col("timestamp").dt.date().alias("day")).unique())
    days: list[date] = table["day"].drop_nulls().unique().sort().to_list()
    span = (days[-1] - days[0]).days + 1 if days else 0
    if span == len(days):
        return
    known = set(days)
    absent = (day for day in (days[0] + timedelta(days=i) for i in range(span)) if day not in known)
    examples = [str(day) for day, _ in zip(absent, range(EXAMPLES + 1), strict=False)]
    yield rules.DayWithoutTraffic.finding(
        log=log.label, count=span - len(days), total=span, first=str(days[0]), last=str(days[-1]), days=examples
    )


def _positions(log: Log, lowest: int | None) -> Iterator[Finding]:
    if lowest is not None and lowest < 1:
        rule = rules.PositionsFromZero if lowest == 0 else rules.PositionsBelowZero
        yield rule.finding(log=log.label, lowest=str(lowest), column=log.roles["position"], count=1)


# --- groups of rows -------------------------------------------------------------------------------------------------


def _by_group(log: Log, column: str, checks: Sequence[LogCheck]) -> list[Finding]:
    """Return the findings about lists, sessions or units, for all checks in one pass."""
    bads = [check.bad(log).fill_null(value=False).alias(f"bad{i}") for i, check in enumerate(checks)]
    wanted: list[pl.Expr] = [pl.len().alias("groups")]
    for i in range(len(checks)):
        bad = pl.col(f"bad{i}")
        ids = pl.col(column).filter(bad).sort().head(EXAMPLES).implode()
        wanted += [bad.sum().alias(f"count{i}"), ids.alias(f"ids{i}")]

    def of_groups(frame: pl.LazyFrame) -> pl.LazyFrame:
        return frame.filter(pl.col(column).is_not_null()).group_by(column).agg(bads).select(wanted)

    facts = _merged(log.gather(of_groups, column))
    noun = log.unit_noun if column == "unit_id" else "list"
    return [
        check.finding(log, count, int(facts["groups"]), [f"{noun} {one}" for one in facts[f"ids{i}"]])
        for i, check in enumerate(checks)
        if (count := int(facts[f"count{i}"] or 0))
    ]


def _grouped_checks(log: Log, covariates: Sequence[str], whole: bool) -> dict[str, Callable[[], Iterator[Finding]]]:
    """Return the checks by code that need a grouping of their own, for the columns of this log."""
    out: dict[str, Callable[[], Iterator[Finding]]] = {}
    key = next(filter(log.has, ("session_id", "unit_id")), "")
    if log.has("impression_id", "item_id"):
        out[rules.RepeatedItem.code] = lambda: _repeated(log, whole)
    elif log.has("timestamp") and key:
        out[rules.RepeatedItem.code] = lambda: _equal_rows(log, key, whole)
    if log.has("timestamp") and key:
        out[rules.TimesGoBack.code] = lambda: _going_back(log, key)
    if log.has("unit_id") and not log.of_impressions and not log.has("timestamp") and not log.has("session_id"):
        out[rules.RepeatedUnits.code] = lambda: _repeated_units(log)
    measured = list(dict.fromkeys([*covariates, *filter(_named_before, log.attributes)]))
    if log.has("unit_id") and measured:
        out[rules.CovariateAfterStart.code] = lambda: (one for name in measured for one in _covariate(log, name))
    return out


def _named_before(column: str) -> bool:
    """Return True for names such as ``orders_before``, ``PRE_REVENUE``, ``sessionsPrior``."""
    capitals = column.lower() if column.isupper() else column
    letters = (f" {c.lower()}" if c.isupper() else c if c.isalnum() else " " for c in capitals)
    return any(part in NAMES_OF_COVARIATES for part in "".join(letters).split())


def _repeated(log: Log, whole: bool) -> Iterator[Finding]:
    pair = ["impression_id", "item_id"]
    known = pl.all_horizontal(pl.col(pair).is_not_null())
    keys = log.gather(
        lambda frame: frame.filter(known).select(one_key(pair)).select(pl.len(), pl.col("key").n_unique()), pair[0]
    )
    if (keys["len"] == keys["key"]).all():  # equal pairs have one key
        return
    lists = pl.col("impression_id").unique().sort()
    rows, ids = (pl.col("len") - 1).sum().alias("rows"), lists.head(EXAMPLES).implode().alias("ids")

    def repeats(frame: pl.LazyFrame) -> pl.LazyFrame:
        items = frame.filter(known).group_by(pair).len()
        return items.filter(pl.col("len") > 1).select(rows, lists.len().alias("lists"), ids)

    facts = _merged(log.gather(repeats, "impression_id"))
    if count := int(facts["rows"]):
        yield rules.RepeatedItem.finding(
            log=log.label, count=count, lists=int(facts["lists"]), places=[f"list {one}" for one in facts["ids"]],
            effect=_effect_of(rules.RepeatedItem, log) if whole and log.has("click") else None,
        )  # fmt: skip


def _equal_rows(log: Log, within: str, whole: bool) -> Iterator[Finding]:
    """Find rows that are equal in all columns, if times have seconds: two rows of a user in one minute may be two events."""
    events = pl.col(log.events) if log.events else pl.col("timestamp").is_not_null()
    seconds, every = (pl.col("timestamp").dt.second().n_unique() > 1).alias("seconds"), (*log.roles, *log.attributes)

    def repeats(columns: Sequence[str]) -> int:
        wanted = [pl.len(), one_key(columns).n_unique(), seconds]
        facts = log.gather(lambda frame: frame.filter(events).select(wanted), within)
        return int(facts["len"].sum()) - int(facts["key"].sum()) if facts["seconds"].any() else 0

    few = [within, "timestamp", *(["item_id"] if log.has("item_id") else [])]
    if repeats(few) and (count := repeats(every)):  # few columns settle most logs
        once = _effect_of(rules.RepeatedItem, log, every, within) if whole and log.has("click") else None
        yield rules.RepeatedRow.finding(log=log.label, count=count, effect=once)


def _repeated_units(log: Log) -> Iterator[Finding]:
    """Find units with several rows in one variant, if half of the units or more have one row."""
    keys = ["unit_id", *(["variant"] if log.has("variant") else [])]
    several = pl.col("len") > 1
    ids = pl.col("unit_id").filter(several).sort().head(EXAMPLES).implode().alias("ids")
    wanted = [several.sum().alias("count"), pl.len().alias("total"), ids]
    facts = _merged(log.gather(lambda frame: frame.group_by(keys).len().select(wanted), "unit_id"))
    count, total = int(facts["count"]), int(facts["total"])
    if 0 < 2 * count <= total:
        places = [f"{log.unit_noun} {one}" for one in facts["ids"]]
        yield rules.RepeatedUnits.finding(log=log.label, unit=log.unit_noun, count=count, total=total, places=places)


def _going_back(log: Log, key: str) -> Iterator[Finding]:
    """Find sessions (or units) with times that go back from row to row, if most are in order."""
    noun = "session" if key == "session_id" else log.unit_noun
    bad, span = pl.col("back") > 0, pl.col("timestamp").max() > pl.col("timestamp").min()
    ids = pl.col(key).filter(bad).sort().head(EXAMPLES).implode().alias("ids")
    wanted = [bad.sum().alias("count"), pl.col("long", "back", "timed").sum(), pl.len().alias("total"), ids]

    def of_groups(frame: pl.LazyFrame) -> pl.LazyFrame:
        rows = frame.filter(pl.col(key).is_not_null()).select(key, "timestamp")
        again = pl.all_horizontal(pl.col(name).eq_missing(pl.col(name).shift(1)) for name in (key, "timestamp"))
        once = rows.filter(~again).sort(key, pl.col("timestamp").is_null(), maintain_order=True)
        after = (pl.col(key) == pl.col(key).shift(1)) & (pl.col("timestamp") < pl.col("timestamp").shift(1))
        groups = once.with_columns(after.alias("back")).group_by(key)
        timed = (pl.col("timestamp").count() > 0).alias("timed")
        return groups.agg(pl.col("back").sum(), span.alias("long"), timed).select(wanted)

    facts = _merged(log.gather(of_groups, key))
    units, timed = int(facts["count"]), pl.col(key).is_not_null() & pl.col("timestamp").is_not_null()
    if not units:
        return
    steps = int(log.gather(lambda frame: frame.select(timed.sum().cast(pl.Int64))).sum().item()) - int(facts["timed"])
    some = steps >= FEWEST_STEPS and int(facts["back"]) <= MAX_STEPS_BACK * steps
    if some or units <= MAX_SHARE_GOING_BACK * int(facts["long"]):
        total, places = int(facts["total"]), [f"{noun} {one}" for one in facts["ids"]]
        yield rules.TimesGoBack.finding(log=log.label, unit=noun, count=units, total=total, places=places)


def _covariate(log: Log, name: str) -> Iterator[Finding]:
    """Find a covariate that changes within a unit, or differs between variants by more than chance."""
    number = log.number(name).alias("value")
    variant = first_known(pl.col("variant")) if log.has("variant") else pl.lit("")
    value = pl.col("value").drop_nulls()
    several = number.drop_nulls().n_unique().alias("values")
    moments = value.len().alias("n"), value.mean().alias("mean"), value.var(ddof=0).alias("var")

    def of_variants(frame: pl.LazyFrame) -> pl.LazyFrame:
        units = frame.group_by("unit_id").agg(several, first_known(number), variant.alias("variant"))
        return units.group_by("variant").agg((pl.col("values") > 1).sum().alias("changing"), *moments)

    parts = log.gather(of_variants, "unit_id")
    if changing := int(parts["changing"].sum()):
        yield rules.CovariateAfterStart.finding(log=log.label, name=name, count=changing, unit=log.unit_noun)
        return
    by_variant: dict[str, Moments] = {}
    for arm, n, mean, var in parts.filter(pl.col("n") > 0).select("variant", "n", "mean", "var").rows():
        if arm is not None:
            by_variant[arm] = by_variant.get(arm, Moments.empty()) + Moments(n, np.array([mean]), np.array([[n * var]]))
    known = sorted((arm, m, float(m.mean[0]), float(m.variance[0])) for arm, m in by_variant.items() if m.count > 1)
    for arm, units, mean, var in known[1:]:
        first, others, first_mean, spread = known[0]
        error = math.sqrt(var / units.count + spread / others.count)
        if error and abs(mean - first_mean) > CLEAR_STANDARD_ERRORS * error:
            yield rules.CovariateDiffers.finding(
                log=log.label, name=name, first=first, first_mean=first_mean, other=arm, other_mean=mean,
                count=units.count, unit=log.unit_noun,
            )  # fmt: skip


# --- effects --------------------------------------------------------------------------------------------------------


def _effect_of(
    rule: Rule, log: Log, repeated: Sequence[str] = ("impression_id", "item_id"), within: str = "impression_id"
) -> dict[str, float] | None:
    """Return the change of the click-through rate if a problem were cured, for the rules that allow it.

    Rows with equal ``repeated`` columns are repeats. They also share the column ``within``.
    """
    known = pl.col("click").is_not_null()
    shown = (pl.col("shown") > 0).fill_null(value=False) if log.has("shown") else known | True  # one value per row
    if rule is rules.ClickOutsideShown:
        return {"CTR": _ctr(log, CLICKED, known & (shown | CLICKED)) - _ctr(log, CLICKED & shown, known & shown)}
    if rule is rules.NoZeros:
        return {"CTR": _ctr(log, CLICKED & shown, shown) - _ctr(log, CLICKED & shown, known & shown)}
    if rule is not rules.RepeatedItem:
        return None
    rows = shown & known

    def once(frame: pl.LazyFrame) -> pl.LazyFrame:
        most = CLICKED.cast(pl.Float64).max().alias("click_here"), rows.max().alias("row_here")
        pairs = frame.group_by(one_key(repeated)).agg(most)
        return pairs.filter("row_here").select(pl.col("click_here").sum(), pl.len())

    clicks, pairs = log.gather(once, within).sum().row(0)
    return {"CTR": float(clicks) / pairs - _ctr(log, CLICKED & rows, rows)} if pairs else None


def _ctr(log: Log, clicks: pl.Expr, rows: pl.Expr) -> float:
    """Return a click-through rate from two sums over the rows; NaN without rows."""
    sums = [clicks.sum().cast(pl.Float64).alias("clicks"), rows.sum().cast(pl.Float64).alias("rows")]
    clicked, count = log.gather(lambda frame: frame.select(sums)).sum().row(0)
    return float(clicked) / float(count) if count else float("nan")
