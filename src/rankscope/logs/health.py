"""What can be wrong with a log, looked for by codes: each fact with its size, where it is, and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.blocks import Caution
from rankscope.impressions import COLUMNS, Log
from rankscope.logs.base import OnlineMetric
from rankscope.logs.metrics import Mean, Ratio
from rankscope.moments import Moments

MANY = 2_000_000  # rows from which verbs do not group and sort for the sake of looking; check does
EXAMPLES = 3
ROUNDING = 1e-9  # probabilities closer than this are equal
NEAR = 1000  # rows at the top in which most of what is looked for is found
MOSTLY = 0.5  # where times go back in more groups than this, the rows are in no order of time at all
FAR = 3.29  # standard errors that chance exceeds once in a thousand times
BEFORE = ("before", "pre", "prior", "baseline", "past")  # words in the name of a covariate
ZEROS = ("click", "conversion", "revenue", "reward")  # outcomes that most rows have a 0 of
PROPENSITIES = ("p_item_pos", "p_prefix", "p_slate")
IDS = ("unit_id", "impression_id", "session_id", "item_id", "variant", "timestamp")

REMEDIES = {  # what to do about each, here and where ``check`` explains its rule
    "RS601": "write positions from 1; they are read as if 1 were added where the lowest is 0",
    "RS602": "log every row of a list that was shown, with its place, or say what was cut",
    "RS603": "find out which is right: a click needs to have been shown; such rows are left out",
    "RS604": "keep one row for each item of a list: the counts of repeated ones are added up twice",
    "RS605": "find out how a unit was given two variants; an experiment leaves such units out and counts them",
    "RS606": "read the rows of all variants: one alone can be described, not compared",
    "RS607": "write times by one clock, in UTC; metrics go by times, not by the order of rows",
    "RS608": "log the probability with which each item was shown; estimates need it above 0 and at most 1",
    "RS609": "log the probability of the list down to each place: it can only fall with the place",
    "RS610": "log one probability for the whole list, in each of its rows",
    "RS611": "write 0 where it was seen that nothing happened, and leave empty what was not seen",
    "RS612": "keep refunds apart, or say that revenue is net; a time cannot be below 0",
    "RS613": "find out whether nothing came or nothing was logged; leave days with gaps out of comparisons",
    "RS614": "give each row its id; rows without one are left out where the id is needed",
    "RS615": "take what was measured before the start alone: what the treatment may have changed hides its effect",
    "RS616": "give each list an id of its own, as lists with one id count as one",
    "RS640": "wait for more, cut the largest values (--winsorise 0.99), or look at a quantile",
    "RS641": "wait for more rows, or look at a quantile that is nearer the median",
    "RS642": "leave out whoever was not in the experiment before analysing it",
    "RS643": "name the column of who was given a variant: --columns 'NAME=unit_id'",
    "RS644": "cut higher, where some users still differ, or leave out winsorising for what is rare",
    "RS645": "write 0 where nothing happened, and leave out units of which nothing is known",
}


@dataclass(frozen=True)
class LogFact(Caution):
    """One thing that is so in a log: how many rows, lists, sessions or units it is about, and where the first of them are.

    ``rows`` are numbers of rows from 0, ``ids`` name lists, sessions or units; ``column`` is the one that it is about, where there is one.
    """

    count: int = 0
    rows: tuple[int, ...] = ()
    ids: tuple[str, ...] = ()
    column: str = ""


@dataclass(frozen=True)
class LogHealth:
    """The state of a log: its ``rows``, the ``facts`` that were found, and the codes that were ``left`` out for the size of the log.

    ``first_position`` is the place that positions count from, 0 or 1. ``unordered`` are codes that were left out as rows have no order.
    """

    rows: int
    facts: tuple[LogFact, ...]
    left: tuple[str, ...] = ()
    first_position: int = 1
    unordered: tuple[str, ...] = ()

    def of(self, code: str) -> tuple[LogFact, ...]:
        """The facts of a code."""
        return tuple(fact for fact in self.facts if fact.code == code)

    def as_dict(self) -> dict[str, Any]:
        """Plain values: rows, and how many each code is about; null for what was not looked at."""
        counts: dict[str, int | None] = dict.fromkeys((*self.left, *self.unordered))
        for fact in self.facts:
            counts[fact.code] = (counts.get(fact.code) or 0) + fact.count
        return {"rows": self.rows, **counts}

    def remark(self) -> str:
        """What was not looked at, in a sentence; empty where all was."""
        no_order = f"Not looked at, as rows have no order: {words.listing(self.unordered)}" if self.unordered else ""
        if not self.left:
            return no_order
        many = f"Not looked at in {words.counted(self.rows, 'row')}: {words.listing(self.left, most=12)}; rankscope check LOG does"
        return f"{many}. {no_order}" if no_order else many


@dataclass(frozen=True)
class Look:
    """One thing to look for: rows that are ``bad``, or groups of rows ``by`` a column.

    ``needs`` are the columns without which there is nothing to look for. ``say`` tells how many of how many are bad.
    """

    code: str
    needs: tuple[str, ...]
    bad: Callable[[Log], pl.Expr]
    say: Callable[[Log, int, int], str]
    by: str = ""


def _column(name: str, log: Log) -> str:
    return log.roles[name]


def _clicked() -> pl.Expr:
    return (pl.col("click") > 0).fill_null(value=False)


def _no_probability(name: str) -> Look:
    def bad(_: Log) -> pl.Expr:
        return ((pl.col(name) <= 0) | (pl.col(name) > 1)).fill_null(value=False)

    def say(log: Log, count: int, _: int) -> str:
        return (
            f"{words.counted(count, 'row has', 'rows have')} a {_column(name, log)} that is not above 0 and at most 1"
        )

    return Look("RS608", (name,), bad, say)


def _negative(name: str, what: str) -> Look:
    def bad(_: Log) -> pl.Expr:
        return (pl.col(name) < 0).fill_null(value=False)

    def say(log: Log, count: int, _: int) -> str:
        return f"{words.counted(count, 'row has', 'rows have')} a negative {what} ({_column(name, log)})"

    return Look("RS612", (name,), bad, say)


def _empty(name: str) -> Look:
    def bad(_: Log) -> pl.Expr:
        return pl.col(name).is_null()

    def say(log: Log, count: int, of: int) -> str:
        return f"{_column(name, log)} is empty in {words.count(count)} of {words.counted(of, 'row')}"

    return Look("RS614", (name,), bad, say)


def _gaps(first: int) -> Look:
    """Lists whose places are not 1, 2, 3 ..., or 0, 1, 2 ... where the log counts from 0."""
    place = pl.col("position").drop_nulls()

    def bad(_: Log) -> pl.Expr:
        return (place.len() > 0) & ((place.max() - first + 1 != place.len()) | (place.n_unique() != place.len()))

    def say(_: Log, count: int, of: int) -> str:
        return f"in {words.count(count)} of {words.counted(of, 'list')} the positions are not {first}, {first + 1}, {first + 2} and so on"

    return Look("RS602", ("position",), bad, say, "impression_id")


LOOKS: tuple[Look, ...] = (
    Look("RS603", ("click", "shown"), lambda _: _clicked() & (pl.col("shown") <= 0).fill_null(value=True),
         lambda log, n, _: f"{words.counted(n, 'row was', 'rows were')} clicked and not shown ({_column('shown', log)})"),
    Look("RS605", ("variant",), lambda _: pl.col("variant").drop_nulls().n_unique() > 1,
         lambda log, n, of: f"{words.count(n)} of {words.counted(of, log.unit_noun)} {words.agree(n, 'has')} rows in several variants", "unit_id"),
    Look("RS609", ("p_prefix", "position"), lambda _: (pl.col("p_prefix").sort_by("position").diff() > ROUNDING).any(),
         lambda log, n, of: f"{_column('p_prefix', log)} rises with the position in {words.count(n)} of {words.counted(of, 'list')}", "impression_id"),
    Look("RS610", ("p_slate",), lambda log: (pl.col("p_slate").max() - pl.col("p_slate").min() > ROUNDING)
         | ((pl.col("p_slate").max() - pl.col("p_prefix").min() > ROUNDING) if log.has("p_prefix") else pl.lit(value=False)),
         lambda log, n, of: f"{_column('p_slate', log)} is not one number in each list, at most {COLUMNS['p_prefix'].name}, in {words.count(n)} of {words.counted(of, 'list')}", "impression_id"),
    Look("RS616", ("unit_id",), lambda _: pl.col("unit_id").drop_nulls().n_unique() > 1,
         lambda log, n, of: f"{words.count(n)} of {words.counted(of, 'list')} {words.agree(n, 'has')} rows of several {words.plural(log.unit_noun)}", "impression_id"),
    *map(_no_probability, PROPENSITIES), _negative("revenue", "revenue"), _negative("dwell_s", "time"), *map(_empty, IDS),
)  # fmt: skip


def examine(log: Log, *, whole: bool = False, covariates: Sequence[str] = ()) -> LogHealth:
    """Look for what can be wrong with a log: rows in one pass, then groups of rows.

    Groups, and whether ids are there, are looked at in logs of up to 2 million rows, in larger ones where the ``whole`` is asked for.
    ``covariates`` are columns that are said to be measured before the start, beside those whose names say so.
    """
    quick = log.rows > MANY and not whole
    known = [look for look in LOOKS if not look.by and log.has(*look.needs)]
    rows, facts, first = _by_row(log, [look for look in known if not (quick and look.code == "RS614")])
    groups = [look for look in (_gaps(first), *LOOKS) if look.by and log.has(look.by, *look.needs)]
    more = _more(log, covariates)
    unordered = tuple(code for code in more if code == "RS607" and log.elsewhere is not None)
    for code in unordered:
        del more[code]
    if quick:
        empty = {look.code for look in known if look.code == "RS614"}
        left = tuple(sorted({look.code for look in groups} | set(more) | empty))
        return LogHealth(rows, _in_order(facts), left, first, unordered)
    for column in dict.fromkeys(look.by for look in groups):
        facts += _by_group(log, column, [look for look in groups if look.by == column])
    for seek in more.values():
        facts += seek()
    return LogHealth(rows, _in_order(facts), (), first, unordered)


def _in_order(facts: Sequence[LogFact]) -> tuple[LogFact, ...]:
    return tuple(sorted(facts, key=lambda fact: fact.code))


def _fact(code: str, log: Log, message: str, **more: Any) -> LogFact:
    return LogFact(code, f"{log.label}: {message}", REMEDIES[code], **more)


def empty_sums(log: Log, metrics: Iterable[OnlineMetric]) -> list[LogFact]:
    """Columns of a table of units that metrics add up, and that are empty for some: these count as 0. Other logs are empty as a rule."""
    sums = [metric for metric in metrics if isinstance(metric, Mean | Ratio)]
    names = dict.fromkeys(getattr(metric, name) for metric in sums for name in metric.of_columns)
    if not names or log.of_impressions:
        return []
    ask = [pl.len(), *(log.number(name).null_count().alias(f"empty {name}") for name in names)]
    rows, *empty = log.gather(lambda frame: frame.select(ask)).sum().row(0)
    return [
        _fact(
            "RS645",
            log,
            f"{name} is empty in {words.count(count)} of {words.counted(rows, 'row')}, which count as 0",
            count=count,
            column=name,
        )
        for name, count in zip(names, empty, strict=True)
        if count
    ]


# --- rows -----------------------------------------------------------------------------------------------------------


def _by_row(log: Log, looks: Sequence[Look]) -> tuple[int, list[LogFact], int]:
    """How many rows there are, what is wrong with some, and the place that positions count from."""
    ask: list[pl.Expr] = [pl.len().alias("rows")]
    for i, look in enumerate(looks):
        ask.append(look.bad(log).sum().alias(f"count{i}"))
    if log.has("position"):
        ask.append(pl.col("position").min().alias("lowest"))
    if log.has("timestamp"):
        ask.append(pl.col("timestamp").drop_nulls().dt.date().unique().implode().alias("days"))
    zeros = [name for name in ZEROS if log.has(name)]
    for name in zeros:
        column = pl.col(name)
        ask += [
            column.null_count().alias(f"null {name}"),
            (column == 0).sum().alias(f"zero {name}"),
            (column > 0).sum().alias(f"more {name}"),
        ]
    found = _added_up(log.gather(lambda frame: frame.select(ask)))
    rows = int(found["rows"])
    counts = [(look, int(found[f"count{i}"] or 0)) for i, look in enumerate(looks)]
    facts = _placed(log, [(look, count) for look, count in counts if count], rows)
    facts += [fact for name in zeros if (fact := _without_zeros(log, name, found))]
    facts += [*_variants(log), *_days(log, found), *_positions(log, found)]
    return rows, facts, 0 if found.get("lowest") == 0 else 1


def _added_up(parts: pl.DataFrame) -> dict[str, Any]:
    """What parts say, as one: the lowest place, all days, some ids, and the sums of counts."""
    merged = {"lowest": pl.col("lowest").min()}
    for name, kind in parts.schema.items():
        if kind == pl.List:
            several = pl.col(name).explode().drop_nulls().unique().sort()
            merged[name] = (several if name == "days" else several.head(EXAMPLES)).implode()
    return parts.select(merged.get(name, pl.col(name).sum()) for name in parts.columns).row(0, named=True)


def _placed(log: Log, looks: Sequence[tuple[Look, int]], rows: int) -> list[LogFact]:
    """What is wrong with so many rows each, and where the first of them are."""
    if not looks:
        return []
    if log.elsewhere is not None:  # rows have no numbers there
        return [_fact(look.code, log, look.say(log, count, rows), count=count) for look, count in looks]
    ask = [look.bad(log).arg_true().head(EXAMPLES).implode().alias(str(i)) for i, (look, _) in enumerate(looks)]
    found = log.collect(log.frame.select(ask)).row(0)
    return [
        _fact(look.code, log, look.say(log, count, rows), count=count, rows=tuple(at))
        for (look, count), at in zip(looks, found, strict=True)
    ]


def _without_zeros(log: Log, name: str, found: Mapping[str, Any]) -> LogFact | None:
    """A column of outcomes without a single 0, in which cells are empty."""
    empty, zeros, more = (int(found[f"{kind} {name}"]) for kind in ("null", "zero", "more"))
    if zeros or not empty or not more:
        return None
    message = (
        f"{_column(name, log)} is empty in {words.counted(empty, 'row')} and 0 in none: an empty cell says that nobody looked, "
        f"so that only the {words.counted(more, 'row')} with a value count"
    )
    return _fact("RS611", log, message, count=empty, column=name)


def _variants(log: Log) -> Iterator[LogFact]:
    """One variant in all rows: most often there are two near the top, and no more are read."""
    if not log.has("variant"):
        return
    ends = [pl.col("variant").min().alias("lowest"), pl.col("variant").max().alias("highest")]
    found = log.gather(lambda frame: frame.head(NEAR).select(ends))
    if found["lowest"].min() == found["highest"].max():
        found = log.gather(lambda frame: frame.select(ends))
    lowest = found["lowest"].min()
    if lowest is not None and lowest == found["highest"].max():
        yield _fact("RS606", log, f"all rows are of one variant, {lowest!s}", count=1)


def _days(log: Log, found: Mapping[str, Any]) -> Iterator[LogFact]:
    days: list[date] = sorted(found.get("days") or [])
    if len(days) < 2:
        return
    span = (days[-1] - days[0]).days + 1
    if span == len(days):
        return
    there = set(days)
    absent = (day for day in (days[0] + timedelta(days=i) for i in range(span)) if day not in there)
    first = [str(day) for day, _ in zip(absent, range(EXAMPLES), strict=False)]
    missing = span - len(days)
    message = f"{words.count(missing)} of the {words.counted(span, 'day')} from {days[0]} to {days[-1]} {words.agree(missing, 'has')} no row ({words.sample(first, missing)})"
    yield _fact("RS613", log, message, count=missing)


def _positions(log: Log, found: Mapping[str, Any]) -> Iterator[LogFact]:
    lowest = found.get("lowest")
    if lowest is not None and lowest < 1:
        rest = "1 is added to all" if lowest == 0 else "a place in a list is 1 or more"
        yield _fact("RS601", log, f"positions start at {lowest} ({_column('position', log)}): {rest}", count=1)


# --- groups of rows -------------------------------------------------------------------------------------------------


def _by_group(log: Log, column: str, looks: Sequence[Look]) -> list[LogFact]:
    """What is wrong with some lists, sessions or units, for all looks in one pass."""
    bads = [look.bad(log).fill_null(value=False).alias(f"bad{i}") for i, look in enumerate(looks)]
    ask: list[pl.Expr] = [pl.len().alias("of")]
    for i in range(len(looks)):
        bad = pl.col(f"bad{i}")
        ask += [
            bad.sum().alias(f"count{i}"),
            pl.col(column).filter(bad).sort().head(EXAMPLES).implode().alias(f"ids{i}"),
        ]

    def each(frame: pl.LazyFrame) -> pl.LazyFrame:
        return frame.filter(pl.col(column).is_not_null()).group_by(column).agg(bads).select(ask)

    found = _added_up(log.gather(each, column))
    noun = log.unit_noun if column == "unit_id" else "list"
    return [
        _fact(look.code, log, look.say(log, count, int(found["of"])), count=count, ids=_named(noun, found[f"ids{i}"]))
        for i, look in enumerate(looks)
        if (count := int(found[f"count{i}"] or 0))
    ]


def _named(noun: str, ids: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{noun} {one}" for one in ids)


def _more(log: Log, covariates: Sequence[str]) -> dict[str, Callable[[], Iterator[LogFact]]]:
    """What else to look for by grouping, by code: as far as there are columns for it."""
    out: dict[str, Callable[[], Iterator[LogFact]]] = {}
    if log.has("impression_id", "item_id"):
        out["RS604"] = lambda: _repeated(log)
    if log.has("timestamp") and (log.has("session_id") or log.has("unit_id")):
        out["RS607"] = lambda: _going_back(log)
    measured = list(dict.fromkeys([*covariates, *(name for name in log.attributes if _says_before(name))]))
    if log.has("unit_id") and measured:
        out["RS615"] = lambda: (fact for name in measured for fact in _covariate(log, name))
    return out


def _says_before(name: str) -> bool:
    """Whether the name of a column says that it was measured before: ``orders_before``, ``pre_revenue``, ``sessionsPrior``."""
    parts = "".join(f" {sign.lower()}" if sign.isupper() else sign if sign.isalnum() else " " for sign in name).split()
    return any(part in BEFORE for part in parts)


def _repeated(log: Log) -> Iterator[LogFact]:
    pair = ["impression_id", "item_id"]
    lists = pl.col("impression_id").unique().sort()
    ask = [
        (pl.col("len") - 1).sum().alias("rows"),
        lists.len().alias("lists"),
        lists.head(EXAMPLES).implode().alias("ids"),
    ]

    def twice(frame: pl.LazyFrame) -> pl.LazyFrame:
        items = frame.filter(pl.all_horizontal(pl.col(pair).is_not_null())).group_by(pair).len()
        return items.filter(pl.col("len") > 1).select(ask)

    found = _added_up(log.gather(twice, "impression_id"))
    if rows := int(found["rows"]):
        message = f"{words.counted(rows, 'row repeats', 'rows repeat')} an item of the same list, in {words.counted(found['lists'], 'list')}"
        yield _fact("RS604", log, message, count=rows, ids=_named("list", found["ids"]))


def _going_back(log: Log) -> Iterator[LogFact]:
    """Sessions (or units) within which times go back from row to row, where most are in order."""
    key, noun = ("session_id", "session") if log.has("session_id") else ("unit_id", log.unit_noun)
    back = (pl.col("timestamp").drop_nulls().diff().dt.total_microseconds() < 0).any().fill_null(value=False)
    bad, span = pl.col("back"), pl.col("timestamp").max() > pl.col("timestamp").min()
    ask = [
        bad.sum().alias("count"),
        pl.col("long").sum(),
        pl.len().alias("of"),
        pl.col(key).filter(bad).sort().head(EXAMPLES).implode().alias("ids"),
    ]

    def each(frame: pl.LazyFrame) -> pl.LazyFrame:
        groups = frame.filter(pl.col(key).is_not_null()).group_by(key)
        return groups.agg(back.alias("back"), span.alias("long")).select(ask)

    found = _added_up(log.gather(each, key))
    count = int(found["count"])
    if count and count <= MOSTLY * int(found["long"]):
        message = f"times go back from row to row in {words.count(count)} of {words.counted(found['of'], noun)}"
        yield _fact("RS607", log, message, count=count, ids=_named(noun, found["ids"]))


def _covariate(log: Log, name: str) -> Iterator[LogFact]:
    """What tells that a covariate was measured after the start: it changes within a unit, or differs between variants beyond chance."""
    number = log.number(name).alias("value")
    variant = pl.col("variant").drop_nulls().first() if log.has("variant") else pl.lit("")
    value = pl.col("value").drop_nulls()
    several = number.drop_nulls().n_unique().alias("values")
    moments = value.len().alias("n"), value.mean().alias("mean"), value.var(ddof=0).alias("var")

    def arms(frame: pl.LazyFrame) -> pl.LazyFrame:
        units = frame.group_by("unit_id").agg(several, number.drop_nulls().first(), variant.alias("variant"))
        return units.group_by("variant").agg((pl.col("values") > 1).sum().alias("changing"), *moments)

    found = log.gather(arms, "unit_id")
    if changing := int(found["changing"].sum()):
        message = f"{name} changes within {words.counted(changing, log.unit_noun)}: it was not measured once, before the start"
        yield _fact("RS615", log, message, count=changing)
        return
    by_variant: dict[str, Moments] = {}
    for arm, n, mean, var in found.filter(pl.col("n") > 0).select("variant", "n", "mean", "var").rows():
        if arm is not None:
            by_variant[arm] = by_variant.get(arm, Moments.empty()) + Moments(n, np.array([mean]), np.array([[n * var]]))
    known = sorted((arm, m, float(m.mean[0]), float(m.variance[0])) for arm, m in by_variant.items() if m.count > 1)
    for arm, of, mean, var in known[1:]:
        first, others, usual, spread = known[0]
        apart, error = mean - usual, math.sqrt(var / of.count + spread / others.count)
        if error and abs(apart) > FAR * error:
            message = (
                f"{name} differs between variants {first} and {arm} by more than chance does "
                f"({words.number(usual)} and {words.number(mean)}): it was measured after the start, or chance did not split the {words.plural(log.unit_noun)}"
            )
            yield _fact("RS615", log, message, count=of.count)
