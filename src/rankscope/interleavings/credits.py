"""Credits: the earnings of a ranker from an interleaved list. One class each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import combinations
from itertools import pairwise as adjacent
from typing import Annotated, Any, ClassVar, Literal

import polars as pl

from rankscope import words
from rankscope.behaviour.mixing import Mixing
from rankscope.behaviour.optimised import Optimised
from rankscope.declared import Param
from rankscope.errors import DataError, InputError
from rankscope.impressions import Log
from rankscope.logs.base import Column, Earning, RatioParts

SAME = 1e-9  # credits closer than this part of their size are tied
MIXINGS = (Mixing, Optimised)  # importing Optimised declares it


class Credit(Earning, kind="credit"):
    """Base of every credit. A list with a credited click is won by the ranker with more credit, and a tie counts half for each.

    ``event`` is the column that is credited: clicks, or conversions, revenue or another number. With ``dwell`` a click counts from this number of
    seconds on. With ``decay`` an event at position k weighs k^decay, which corrects for attention that falls like k^-decay. ``per`` event
    each one counts, by its share for the ranker, and per list only the winner. ``ties`` may be left out of the number of lists.

    A subclass defines ``earned``, the credit of a ranker per row, or ``sums``, the credit of two of them per list. ``prefix`` begins the columns
    of rankers in the log, ``instead`` names another column that does. ``whole_lists`` is true if items without an event matter.
    """

    unit, above, below = "list", "lists won, ties half", "lists with a credited event"
    range = (0.0, 1.0)
    prefix: ClassVar[str] = "rank_"
    instead: ClassVar[str] = ""
    whole_lists: ClassVar[bool] = False
    listed_by = "rankscope interleaving --help"

    event: Column = "click"
    dwell: Annotated[float | None, Param("seconds from which on a click counts", above=0)] = None
    decay: Annotated[float | None, Param("an event at position k weighs k^decay", low=0, high=10)] = None
    per: Annotated[Literal["list", "event"], Param("whether lists are counted or events")] = "list"
    ties: Annotated[
        Literal["half", "leave_out"], Param("whether tied lists count half for each ranker or not at all")
    ] = "half"
    ranker: Annotated[str, Param("the ranker that earns")] = ""
    rival: Annotated[str, Param("the other ranker")] = ""

    def value(self, log: Log) -> pl.Expr:
        """Return the weight of the event on each row, 0 without one."""
        value = log.number(self.event).fill_null(0.0)
        if self.dwell is not None:
            value = pl.when(log.number("dwell_s") >= self.dwell).then(value).otherwise(0.0)
        return value if self.decay is None else value * log.number("position") ** self.decay

    def earned(self, log: Log, ranker: str) -> pl.Expr:
        """Return the credit of a ranker per row."""
        raise TypeError(f"{type(self).__name__} does not define earned()")

    def sums(self, log: Log) -> tuple[pl.Expr, pl.Expr]:
        """Return the credit of the ranker and of its rival per list."""
        return self.earned(log, self.ranker).sum(), self.earned(log, self.rival).sum()

    def numbers(self, log: Log, ranker: str, missing: float = 0.0) -> pl.Expr:
        """Return the column of a ranker."""
        return log.number(f"{self.prefix}{ranker}").fill_null(missing)

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        """Return the lists (or events) won by the ranker, out of all with an event."""
        ours, theirs = self.sums(log)
        count = self.value(log).sum()
        apart = ours - theirs
        tied = apart.abs() <= SAME * (ours.abs() + theirs.abs())
        if self.per == "event":
            return RatioParts("list", (count + pl.when(tied).then(0.0).otherwise(apart)) / 2, count)
        seen = count > 0
        won = pl.when(seen & tied).then(0.5).otherwise((seen & (apart > 0)).cast(pl.Float64))
        if self.ties == "leave_out":
            return RatioParts("list", pl.when(tied).then(0.0).otherwise(won), (seen & ~tied).cast(pl.Float64))
        return RatioParts("list", won, seen.cast(pl.Float64))

    def columns(self, log: Log) -> tuple[str, ...]:
        """The columns of the log that it needs."""
        return (*self.needs, *(["position"] if self.decay is not None else []))

    def rankers(self, log: Log) -> list[str]:
        """The rankers of a log, in the order of their columns. Raises DataError for fewer than two."""
        names = [name.removeprefix(self.prefix) for name in log.attributes if name.startswith(self.prefix)]
        if len(names) < 2:
            raise DataError(
                f"{log.label}: {self} needs {self.instead}a column {self.prefix}NAME of each ranker, and there {_are(names)}"
            )
        return names

    def __str__(self) -> str:
        return super().__str__() if not self.ranker else str(self.having(ranker="", rival=""))

    __repr__ = __str__


def _are(names: Sequence[str]) -> str:
    return f"is one, of {names[0]}" if names else "is none"


class TeamCredit(Credit, aliases=("team_credit", "teams")):
    """A click earns the ranker that contributed the item (column ``team``, or clicks per ranker in columns ``clicks_NAME``)."""

    prefix, instead = "clicks_", "a column team (--columns 'NAME=team'), or "
    source = "Radlinski, Kurup and Joachims, How does clickthrough data reflect retrieval quality? CIKM 2008"

    def earned(self, log: Log, ranker: str) -> pl.Expr:
        """Return the event if the ranker contributed the item."""
        if log.has("team"):
            return pl.when(pl.col("team") == ranker).then(self.value(log)).otherwise(0.0)
        return self.numbers(log, ranker)

    def rankers(self, log: Log) -> list[str]:
        """The rankers in the order of their columns of ranks, otherwise of their names."""
        if not log.has("team"):
            return super().rankers(log)
        table = log.gather(lambda frame: frame.select(pl.col("team").drop_nulls().unique()), ids=["team"])
        teams = sorted(map(str, table["team"].unique()))
        ranked = [name.removeprefix("rank_") for name in log.attributes if name.startswith("rank_")]
        if len(ranked) > 1:
            if unknown := [team for team in teams if team not in ranked]:
                raise DataError(
                    f"{log.label}: team {unknown[0]} has no column rank_{unknown[0]}; the ranks are of {words.listing(ranked)}"
                )
            return ranked
        if len(teams) < 2:
            raise DataError(f"{log.label}: an interleaved log has two teams or more, and there {_are(teams)}")
        return teams


class LoggedCredit(Credit, aliases=("logged_credit",)):
    """A click earns each ranker the share that the mixing gave it (columns ``credit_NAME``): probabilistic, optimised, debiased balanced."""

    prefix = "credit_"
    source = "Hofmann, Whiteson and de Rijke, A probabilistic method for inferring preferences from clicks, CIKM 2011"

    def earned(self, log: Log, ranker: str) -> pl.Expr:
        """Return the event times the share of the ranker."""
        return self.value(log) * self.numbers(log, ranker)


class BalancedCredit(Credit, aliases=("balanced_credit",)):
    """A ranker earns the clicks on its own top items, down to the rank at which the lowest clicked item is in one of the rankings."""

    needs = ("position",)
    source = "Joachims, Evaluating retrieval performance using clickthrough data, Text Mining 2003"

    def sums(self, log: Log) -> tuple[pl.Expr, pl.Expr]:
        """Return the clicks of both down to that rank."""
        value = self.value(log)
        ranks = [self.numbers(log, name, math.inf) for name in (self.ranker, self.rival)]
        lowest = pl.min_horizontal(*ranks).sort_by(pl.when(value > 0).then(pl.col("position")).fill_null(-1)).last()
        ours, theirs = (value.filter(rank <= lowest).sum() for rank in ranks)
        return ours, theirs


class PairwiseCredit(Credit, aliases=("pairwise_credit",)):
    """A clicked item is preferred to the items above it and next to it that were not clicked, and counts for rankers that agree.

    A pair counts if the list could have had its items in either order, by one over the probability of that (from ``p_prefix``).
    """

    needs = ("position", "p_prefix")
    whole_lists = True
    source = "Oosterhuis and de Rijke, Sensitive and scalable online evaluation with theoretical guarantees, CIKM 2017"

    def sums(self, log: Log) -> tuple[pl.Expr, pl.Expr]:
        """Return the agreement of both with the pairs of a list."""
        best = pl.min_horizontal(self.numbers(log, name, math.inf) for name in self.rankers(log))
        rows = [pl.col("position"), self.value(log), pl.col("p_prefix"), best]
        ours, theirs = (
            pl.map_groups([*rows, self.numbers(log, name, math.inf)], pairwise, pl.Float64, returns_scalar=True)
            for name in (self.ranker, self.rival)
        )
        return ours, theirs


def pairwise(columns: Sequence[pl.Series]) -> float:
    """Return the agreement of a ranker with the preferences of one list: position, event, p_prefix, best rank, rank of the ranker.

    >>> one = [[1, 2], [0.0, 1.0], [0.5, 0.5], [1, 1], [2, 1]]  # the second was clicked, and the ranker has it first
    >>> pairwise([pl.Series(column) for column in one])
    1.0
    """
    rows = sorted(zip(*(column.to_list() for column in columns), strict=True))
    prefix = [1.0, *(row[2] for row in rows)]
    stay = [1 - after / before for before, after in adjacent(prefix)]  # not the drawn one, at each place
    total = 0.0
    for at, (_, event, _, best, rank) in enumerate(rows):
        for other in [*range(at), at + 1] if event > 0 else []:
            if other >= len(rows) or rows[other][1] > 0:
                continue
            low, high = sorted((best, rows[other][3]))
            if min(at, other) + 1 < high or high == math.inf:
                continue
            either = math.prod(stay[int(low) - 1 : int(high) - 1])
            total += ((rank < rows[other][4]) - (rank > rows[other][4])) / either if either > 0 else 0.0
    return total


# --- the credit of a log ------------------------------------------------------------------------------------------


def recorded_method(log: Log) -> Mixing | None:
    """Return the way of mixing that a log records, or None. Raises DataError for several, InputError for an unknown one."""
    if not log.has("merge_method"):
        return None
    name = pl.col("merge_method")
    first = (name != name.shift()).fill_null(value=True)  # few rows differ from the one before
    changed = name.filter(first).drop_nulls().unique()
    names = log.gather(lambda frame: frame.select(changed), ids=["merge_method"])["merge_method"].unique().to_list()
    if len(names) > 1:
        raise DataError(
            f"{log.label}: lists were mixed in {len(names)} ways ({words.listing(sorted(names), 3)}): analyse them one at a time"
        )
    try:
        return Mixing.read(names[0]) if names else None
    except InputError as error:
        raise InputError(f"{log.label}, column merge_method: {error}") from None


def usual_credit(log: Log) -> Credit | None:
    """Return the credit that the columns of a log allow without a recorded method; None if it has no interleaved lists."""
    if log.has("team") or any(name.startswith("clicks_") for name in log.attributes):
        return TeamCredit()
    return LoggedCredit() if any(name.startswith("credit_") for name in log.attributes) else None


def credit_of(log: Log, credit: Any, method: Mixing | None) -> Credit:
    """Return the credit to use on a log: the chosen one, or the usual one of its way of mixing."""
    several = credit if isinstance(credit, list | tuple) else [credit]
    if len(several) > 1:
        raise InputError(f"{words.listing(several)}: interleaved lists are compared by one credit: name one")
    if several and several[0] is not None:
        return Credit.read(several[0])
    usual = usual_credit(log) if method is None else Credit.read(method.credit)
    if usual is None:
        raise DataError(
            f"{log.label}: interleaved lists are expected: give the ranker of each item in a column team (--columns 'NAME=team'), "
            "or its credits in columns credit_NAME"
        )
    return usual


def summed(credit: Credit, rankers: Sequence[str]) -> Mapping[tuple[str, str], Credit]:
    """Return the credit of each pair of rankers, the earlier one first.

    >>> [str(pair) for pair in summed(TeamCredit(), ["a", "b", "c"])]
    ["('a', 'b')", "('a', 'c')", "('b', 'c')"]
    """
    return {pair: credit.having(ranker=pair[0], rival=pair[1]) for pair in combinations(rankers, 2)}
